package org.yunti.hadoop.runner.job;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.security.UserGroupInformation;
import org.yunti.hadoop.runner.attempt.AttemptState;
import org.yunti.hadoop.runner.attempt.AttemptUmbilical;
import org.yunti.hadoop.runner.attempt.TaskOrder;
import org.yunti.hadoop.runner.files.JobFolder;
import org.yunti.hadoop.runner.load.ClassPlan;
import org.yunti.hadoop.runner.record.JobRecord;
import org.yunti.hadoop.runner.worker.WorkerProcess;
import org.yunti.hadoop.runner.worker.WorkerSettings;

/**
 * Tasks in JVMs of their own: one a slot, used by one task after the other, or one a task if the job's classes need
 * it. Each has a working directory with the job's cache files.
 */
final class InWorkers implements TaskPlace {
  private final JobConf conf;
  private final JobFolder folder;
  private final JobRecord record;
  private final ClassPlan plan;
  /** True if a JVM loads the job's classes anew for each task that needs it; false if they are on its class path. */
  private final boolean loads;
  private final boolean reuses;
  private final File settings;
  private final Map<TaskType, WorkerSettings> kinds = new EnumMap<>(TaskType.class);
  /** Workers that wait, for each kind; maps and reduces share them if their settings are equal. */
  private final Map<WorkerSettings, Deque<WorkerProcess>> idle = new HashMap<>();
  private final Set<WorkerProcess> all = new HashSet<>();
  private int started;
  private boolean closed;

  /**
   * @param loads true if a JVM may load the job's classes; false if they must be on its class path
   * @param keepsNothing true if a JVM with the classes on its class path can run one task after the other
   */
  InWorkers(JobConf conf, JobFolder folder, JobRecord record, ClassPlan plan, boolean loads,
      boolean keepsNothing) throws IOException {
    this.conf = conf;
    this.folder = folder;
    this.record = record;
    this.plan = plan;
    this.loads = loads;
    reuses = loads || keepsNothing;
    for (TaskType type : new TaskType[] {TaskType.MAP, TaskType.REDUCE}) {
      kinds.put(type, new WorkerSettings(conf, type));
      idle.put(kinds.get(type), new ArrayDeque<>());
    }
    settings = folder.file("job.xml");
    try (OutputStream out = new FileOutputStream(settings)) {
      conf.writeXml(out);
    }
  }

  /** Returns true if a JVM runs one task after the other. */
  boolean reuses() {
    return reuses;
  }

  @Override
  public void run(AttemptRun attempt, TaskOrder order, AttemptUmbilical.Job answers) throws Exception {
    WorkerSettings kind = kinds.get(order.id().getTaskType());
    WorkerProcess worker = take(kind);
    Run run = new Run(worker);
    attempt.runs(run);
    boolean isGood = false;
    try {
      worker.run(order, answers);
      isGood = true;
    } finally {
      // After a failure nobody knows what the JVM's state is.
      isGood &= run.end();
      giveBack(worker, isGood && reuses ? idle.get(kind) : null);
    }
  }

  /** Attempt in a worker. After its end the worker is another attempt's: its state is kept, and nothing kills it. */
  private static final class Run implements RunningAttempt {
    private final WorkerProcess worker;
    private boolean isKilled;
    private AttemptState last; // null until the end
    private long record;

    Run(WorkerProcess worker) {
      this.worker = worker;
    }

    /** Ends the attempt. Returns false if its worker was killed. */
    synchronized boolean end() {
      last = worker.state();
      record = worker.record();
      return !isKilled;
    }

    private synchronized void kill() {
      if (last == null) {
        isKilled = true;
        worker.kill();
      }
    }

    @Override
    public synchronized AttemptState state() {
      return last == null ? worker.state() : last;
    }

    @Override
    public synchronized boolean takeProgress() {
      return last != null || worker.takeProgress();
    }

    @Override
    public void cancel() {
      kill();
    }

    @Override
    public void abandon() {
      kill();
    }

    @Override
    public synchronized long record() {
      return last == null ? worker.record() : record;
    }

    @Override
    public String stack() {
      return "";
    }
  }

  private WorkerProcess take(WorkerSettings kind) throws IOException {
    int number;
    synchronized (this) {
      if (closed) {
        throw new IOException("the job ended");
      }
      WorkerProcess worker = idle.get(kind).poll();
      if (worker != null) {
        clean(worker.directory());
        return worker;
      }
      number = started++;
    }
    File directory = folder.file("worker-" + number);
    if (!directory.mkdirs()) {
      throw new IOException("cannot create " + directory);
    }
    folder.link(directory);
    makeTemporary(directory);
    record.make();
    WorkerProcess worker = new WorkerProcess(kind.options(directory), classPath(), kind.environment(), directory,
        new File(record.directory(), "worker-" + number + ".log"));
    boolean isLate;
    synchronized (this) {
      isLate = closed;
      all.add(worker);
    }
    if (isLate) {
      worker.kill();
      throw new IOException("the job ended");
    }
    worker.begin(settings, UserGroupInformation.getCurrentUser().getUserName(), conf.getCredentials(),
        record.directory(), plan, loads);
    return worker;
  }

  /** Deletes what the last task left in the working directory; the links of the cache files stay. */
  private static void clean(File directory) throws IOException {
    File[] left = directory.listFiles();
    for (File file : left == null ? new File[0] : left) {
      if (!Files.isSymbolicLink(file.toPath())) {
        FileUtil.fullyDelete(file);
      }
    }
    makeTemporary(directory);
  }

  /** Makes the directory that {@link WorkerSettings} names. */
  private static void makeTemporary(File directory) throws IOException {
    File temporary = WorkerSettings.temporary(directory);
    if (!temporary.mkdir()) {
      throw new IOException("cannot create " + temporary);
    }
  }

  /** @param waiting where the worker waits for its next task; null if it must not have one */
  private void giveBack(WorkerProcess worker, Deque<WorkerProcess> waiting) {
    synchronized (this) {
      if (waiting != null && !closed) {
        waiting.push(worker);
        return;
      }
      all.remove(worker);
    }
    worker.end();
  }

  /** Returns the program's own class path, with the job's jars where a cluster has them unless tasks load them. */
  private String classPath() throws IOException {
    if (loads || conf.getBoolean(MRJobConfig.MAPREDUCE_JOB_CLASSLOADER, false)) {
      return WorkerProcess.classPath();
    }
    StringBuilder jars = new StringBuilder();
    for (URL jar : folder.classPath()) {
      try {
        jars.append(jars.length() == 0 ? "" : File.pathSeparator).append(new File(jar.toURI()).getPath());
      } catch (URISyntaxException e) {
        throw new IOException(e);
      }
    }
    String own = WorkerProcess.classPath();
    boolean jarsFirst = conf.getBoolean(MRJobConfig.MAPREDUCE_JOB_USER_CLASSPATH_FIRST, false);
    return jars.length() == 0 ? own
        : jarsFirst ? jars + File.pathSeparator + own : own + File.pathSeparator + jars;
  }

  @Override
  public void close() {
    List<WorkerProcess> left;
    synchronized (this) {
      closed = true;
      left = new ArrayList<>();
      for (Deque<WorkerProcess> waiting : idle.values()) {
        left.addAll(waiting);
        waiting.clear();
      }
      all.removeAll(left);
      for (WorkerProcess busy : all) {
        busy.kill();
      }
    }
    for (WorkerProcess worker : left) {
      worker.end();
    }
  }
}
