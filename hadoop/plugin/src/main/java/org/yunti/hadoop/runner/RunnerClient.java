package org.yunti.hadoop.runner;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.ipc.ProtocolSignature;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Cluster.JobTrackerStatus;
import org.apache.hadoop.mapreduce.ClusterMetrics;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.QueueAclsInfo;
import org.apache.hadoop.mapreduce.QueueInfo;
import org.apache.hadoop.mapreduce.QueueState;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskTrackerInfo;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;
import org.apache.hadoop.mapreduce.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.mapreduce.server.jobtracker.JTConfig;
import org.apache.hadoop.mapreduce.v2.LogParams;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.AccessControlList;
import org.apache.hadoop.security.token.Token;
import org.yunti.hadoop.runner.files.ThisProcess;
import org.yunti.hadoop.runner.job.JobRun;
import org.yunti.hadoop.runner.job.Priorities;
import org.yunti.hadoop.runner.record.JobRecord;
import org.yunti.hadoop.runner.record.RecordedJob;

/**
 * Client of the framework {@code yunti}: Hadoop's requests, answered by the jobs of this JVM. All clients of a JVM see
 * the same jobs, because programs open a second one to ask after a job of the first.
 */
final class RunnerClient implements ClientProtocol {
  /** Time that a question about a running job waits, so that who asks in turn hears of its end at once. */
  private static final long STATUS_WAIT_MS = 5;

  private final Configuration conf;

  RunnerClient(Configuration conf) {
    this.conf = conf;
  }

  @Override
  public JobID getNewJobID() {
    return Jobs.newId();
  }

  @Override
  public JobStatus submitJob(JobID id, String submitDirectory, Credentials credentials) throws IOException {
    Ending.install();
    JobRun run = new JobRun(org.apache.hadoop.mapred.JobID.downgrade(id), new Path(submitDirectory), credentials);
    Jobs.add(id, run);
    return run.status();
  }

  @Override
  public void killJob(JobID id) throws IOException {
    known(id).kill();
  }

  @Override
  public void setJobPriority(JobID id, String priority) throws IOException {
    known(id).setPriority(Priorities.of(priority));
  }

  @Override
  public boolean killTask(TaskAttemptID attempt, boolean isFailure) throws IOException {
    return known(attempt.getJobID()).killTask(attempt, isFailure);
  }

  @Override
  public JobStatus getJobStatus(JobID id) throws IOException {
    JobRun run = Jobs.get(id);
    if (run != null) {
      run.await(STATUS_WAIT_MS);
    }
    RecordedJob recorded = run == null ? RecordedJob.find(conf, id) : null;
    return run != null ? run.status() : recorded == null ? null : recorded.status();
  }

  @Override
  public Counters getJobCounters(JobID id) throws IOException {
    JobRun run = Jobs.get(id);
    RecordedJob recorded = run == null ? RecordedJob.find(conf, id) : null;
    return run != null ? run.counters() : recorded == null ? null : recorded.counters();
  }

  @Override
  public TaskReport[] getTaskReports(JobID id, TaskType type) throws IOException {
    JobRun run = Jobs.get(id);
    return run != null ? run.reports(type) : recorded(id).reports(type);
  }

  @Override
  public TaskCompletionEvent[] getTaskCompletionEvents(JobID id, int from, int countMax) throws IOException {
    JobRun run = Jobs.get(id);
    return run != null ? run.events(from, countMax) : recorded(id).events(from, countMax);
  }

  @Override
  public String[] getTaskDiagnostics(TaskAttemptID attempt) throws IOException {
    return known(attempt.getJobID()).diagnostics(attempt);
  }

  private static JobRun known(JobID id) throws IOException {
    JobRun run = Jobs.get(id);
    if (run == null) {
      throw new IOException("Unknown job " + id);
    }
    return run;
  }

  private RecordedJob recorded(JobID id) throws IOException {
    RecordedJob job = RecordedJob.find(conf, id);
    if (job == null) {
      throw new IOException("Unknown job " + id);
    }
    return job;
  }

  @Override
  public JobStatus[] getAllJobs() {
    List<JobStatus> all = new ArrayList<>();
    for (JobRun run : Jobs.all()) {
      all.add(run.status());
    }
    return all.toArray(new JobStatus[0]);
  }

  @Override
  public String getFilesystemName() throws IOException {
    return FileSystem.getLocal(conf).getUri().toString();
  }

  @Override
  public String getSystemDir() throws IOException {
    return localPath(JTConfig.JT_SYSTEM_DIR, "system");
  }

  @Override
  public String getStagingAreaDir() throws IOException {
    String root = localPath(JTConfig.JT_STAGING_AREA_ROOT, "staging");
    // A directory of this JVM: a JVM that ends deletes its own and no other.
    String name = UserGroupInformation.getCurrentUser().getShortUserName() + "-yunti-" + ThisProcess.id();
    ThisProcess.deleteLeftovers(new File(new Path(root).toUri().getPath()));
    return new Path(new Path(root, name), ".staging").toString();
  }

  /** @param ifUnset name in Hadoop's directory of this user: LocalJobRunner's own is one for all users */
  private String localPath(String key, String ifUnset) throws IOException {
    String path = conf.get(key, conf.get("hadoop.tmp.dir") + "/mapred/" + ifUnset);
    return FileSystem.getLocal(conf).makeQualified(new Path(path)).toString();
  }

  @Override
  public String getJobHistoryDir() {
    return null;
  }

  @Override
  public ClusterMetrics getClusterMetrics() {
    int slots = RunnerSettings.slots(conf);
    return new ClusterMetrics(0, 0, 0, 0, 0, 0, slots, slots, Jobs.all().size(), 1, 0, 0);
  }

  @Override
  public JobTrackerStatus getJobTrackerStatus() {
    return JobTrackerStatus.RUNNING;
  }

  @Override
  public long getTaskTrackerExpiryInterval() {
    return 0;
  }

  @Override
  public TaskTrackerInfo[] getActiveTrackers() {
    return new TaskTrackerInfo[0];
  }

  @Override
  public TaskTrackerInfo[] getBlacklistedTrackers() {
    return new TaskTrackerInfo[0];
  }

  @Override
  public QueueInfo[] getQueues() {
    return new QueueInfo[] {getQueue(JobConf.DEFAULT_QUEUE_NAME)};
  }

  @Override
  public QueueInfo getQueue(String name) {
    return name.equals(JobConf.DEFAULT_QUEUE_NAME)
        ? new QueueInfo(name, "", QueueState.RUNNING, getAllJobs()) : null;
  }

  @Override
  public QueueInfo[] getRootQueues() {
    return getQueues();
  }

  @Override
  public QueueInfo[] getChildQueues(String name) {
    return new QueueInfo[0];
  }

  @Override
  public QueueAclsInfo[] getQueueAclsForCurrentUser() {
    return new QueueAclsInfo[0];
  }

  @Override
  public AccessControlList getQueueAdmins(String name) {
    return new AccessControlList(" ");
  }

  @Override
  public Token<DelegationTokenIdentifier> getDelegationToken(Text renewer) {
    return null;
  }

  @Override
  public long renewDelegationToken(Token<DelegationTokenIdentifier> token) {
    return 0;
  }

  @Override
  public void cancelDelegationToken(Token<DelegationTokenIdentifier> token) {}

  @Override
  public LogParams getLogFileParams(JobID id, TaskAttemptID attempt) throws IOException {
    throw new IOException("The logs of " + id + " are files of this machine: " + new JobRecord(conf, id.toString()).directory());
  }

  @Override
  public long getProtocolVersion(String protocol, long clientVersion) {
    return versionID;
  }

  @Override
  public ProtocolSignature getProtocolSignature(String protocol, long clientVersion, int clientMethodsHash)
      throws IOException {
    return ProtocolSignature.getProtocolSignature(this, protocol, clientVersion, clientMethodsHash);
  }
}
