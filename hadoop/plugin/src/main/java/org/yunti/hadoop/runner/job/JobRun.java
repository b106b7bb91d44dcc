package org.yunti.hadoop.runner.job;

import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.FileOutputCommitter;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobContextImpl;
import org.apache.hadoop.mapred.JobEndNotifier;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.SkipBadRecords;
import org.apache.hadoop.mapred.TIPStatus;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobPriority;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.util.StringUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.runner.RunnerSettings;
import org.yunti.hadoop.runner.attempt.TaskOrder;
import org.yunti.hadoop.runner.files.JobFolder;
import org.yunti.hadoop.runner.load.ClassTraits;
import org.yunti.hadoop.runner.load.JobClasses;
import org.yunti.hadoop.runner.record.JobRecord;
import org.yunti.hadoop.runner.worker.WorkerProcess;

/**
 * One job in this JVM, from its submission to its end.
 *
 * <pre>
 *   PREP -> setupJob -> maps -> reduces -> commitJob -> SUCCEEDED
 *                          any failure -> abortJob  -> FAILED, KILLED
 * </pre>
 *
 * <p>One thread of the job starts attempts and takes their ends; each attempt has a thread of its own, because code of
 * users leaves thread-local values. {@link Slots} limits how many run at the same time.
 */
public final class JobRun {
  private static final Logger LOG = LoggerFactory.getLogger(JobRun.class);
  /** Time for code of users to notice that its attempt was stopped. */
  private static final long STOP_MS_MAX = 3000;
  /** How often attempts are checked for progress. */
  private static final long WATCH_MS = 500;
  private static final long SHOWN_NS = 1_000_000_000;

  /** Group of the threads of attempts, and of all threads that these start. */
  private static final ThreadGroup ATTEMPTS = new ThreadGroup("yunti attempts");

  private final JobID id;
  private final Path submitDirectory;
  private final Path jobFile;
  private final JobConf conf;
  private final UserGroupInformation user;
  private final JobFolder folder;
  private final JobRecord record;
  private final ClassTraits traits;
  private final JobClasses classes;
  private final int slots;
  private final String isolation;
  private final long started_ms = System.currentTimeMillis();
  private final CountDownLatch finished = new CountDownLatch(1);
  private final BlockingQueue<AttemptRun> ended = new LinkedBlockingQueue<>();
  private final Events events = new Events();
  private volatile TaskPlace place;
  private final Thread thread;
  private final Set<AttemptRun> running = new HashSet<>();

  private volatile TaskRun[] maps = {};
  private volatile TaskRun[] reduces = {};
  private volatile JobStatus.State state = JobStatus.State.PREP;
  private volatile JobPriority priority;
  private volatile boolean killed;
  private volatile long finished_ms;
  private volatile String failure = "";
  private volatile float setUp;
  private volatile float cleanedUp;
  private volatile Counters finalCounters;
  private long shown_ns = System.nanoTime() - SHOWN_NS;
  private float shownMaps;
  private float shownReduces;
  /** Attempts may commit until the job ends. */
  private volatile boolean commits = true;

  /**
   * Takes a job that Hadoop's client laid down, and starts it.
   *
   * @param submitDirectory with the job's settings, splits, jar and files
   */
  public JobRun(JobID id, Path submitDirectory, Credentials credentials) throws IOException {
    this.id = id;
    this.submitDirectory = submitDirectory;
    jobFile = new Path(submitDirectory, "job.xml");
    user = UserGroupInformation.getCurrentUser();
    // The file has the defaults too; reading theirs again takes longer than a small job.
    conf = new JobConf(false);
    conf.addResource(jobFile);
    conf.setCredentials(credentials);
    SpillKey.add(conf);
    ClassLoader submitter = Thread.currentThread().getContextClassLoader();
    folder = new JobFolder(conf, id.toString());
    record = new JobRecord(conf, id.toString());
    boolean ownFirst = conf.getBoolean(MRJobConfig.MAPREDUCE_JOB_USER_CLASSPATH_FIRST, false)
        || conf.getBoolean(MRJobConfig.MAPREDUCE_JOB_CLASSLOADER, false);
    traits = new ClassTraits(conf, folder.classPath(), ownFirst, submitter);
    classes = new JobClasses(traits.plan(), submitter);
    slots = RunnerSettings.slots(conf);
    Slots.want(slots);
    isolation = RunnerSettings.isolation(conf);
    priority = Priorities.of(conf.getTrimmed(MRJobConfig.PRIORITY, JobPriority.NORMAL.name()));
    place = place();
    thread = new Thread(this::runAsUser, "yunti " + id);
    // No daemon: the program goes on until its jobs end, although its main thread may not wait for them.
    thread.setDaemon(false);
    thread.start();
  }

  /** Chooses where the tasks run, and says it. */
  private TaskPlace place() throws IOException {
    String reason = isolation.equals(RunnerSettings.JVMS) ? "as " + RunnerSettings.ISOLATION + " says" : null;
    if (isolation.equals(RunnerSettings.AUTO)) {
      reason = JvmNeeds.of(traits, conf);
    }
    if (reason == null) {
      reason = folder.linkHere();
    }
    if (reason == null) {
      LOG.info("{} runs in this JVM, {} tasks at a time, with {}; logs and history: {}", id, slots, traits.choice(),
          record.directory());
      return new InThreads(conf, classes, record);
    }
    InWorkers workers = workers();
    LOG.info("{} runs in JVMs of its own, {} tasks at a time{}: {}; logs and history: {}", id, slots,
        workers.reuses() ? "" : ", one JVM a task", reason, record.directory());
    return workers;
  }

  private InWorkers workers() throws IOException {
    // A job that wants a loader gets Hadoop's, whose rules it may have set.
    boolean wantsLoader = conf.getBoolean(MRJobConfig.MAPREDUCE_JOB_CLASSLOADER, false);
    boolean loads = JvmNeeds.plain(traits, conf) == null && !wantsLoader;
    return new InWorkers(conf, folder, record, traits.plan(), loads,
        traits.ownJvm() == null && traits.keepsNothing());
  }

  /** Lets further attempts run in JVMs of their own, after one did harm to this JVM. */
  private synchronized void isolate(String reason) {
    if (place instanceof InThreads && isolation.equals(RunnerSettings.AUTO)) {
      LOG.info("further attempts of {} run in JVMs of their own: {}", id, reason);
      try {
        place = workers();
      } catch (IOException e) {
        LOG.warn("they stay in this one", e);
      }
    }
  }

  private void runAsUser() {
    ClassLoader loader = classes.take();
    Thread.currentThread().setContextClassLoader(loader);
    conf.setClassLoader(loader);
    try {
      user.addCredentials(conf.getCredentials());
      user.doAs((PrivilegedExceptionAction<Void>) () -> {
        run();
        return null;
      });
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      LOG.error("{} ended without an orderly end", id, e);
      failure = e.toString();
      state = JobStatus.State.FAILED;
      finished.countDown();
    } finally {
      place.close();
      classes.close();
    }
  }

  private void run() {
    JobContext context = new JobContextImpl(conf, id);
    OutputCommitter committer = null;
    try {
      TaskSplitMetaInfo[] splits = SplitMetaInfoReader.readSplitMetaInfo(
          id, submitDirectory.getFileSystem(conf), conf, submitDirectory);
      maps = tasks(TaskType.MAP, splits.length, splits);
      reduces = tasks(TaskType.REDUCE, conf.getNumReduceTasks(), null);
      state = JobStatus.State.RUNNING;
      committer = committer();
      committer.setupJob(context);
      setUp = 1;
      runAll(maps, conf.getMaxMapTaskFailuresPercent());
      runAll(reduces, conf.getMaxReduceTaskFailuresPercent());
      checkKilled();
      committer.commitJob(context);
      end(JobStatus.State.SUCCEEDED, "");
    } catch (Throwable e) {
      boolean wasKilled = killed;
      if (!(e instanceof JobEnd)) {
        LOG.warn("{} failed", id, e);
      }
      commits = false;
      stopAll();
      JobStatus.State how = wasKilled ? JobStatus.State.KILLED : JobStatus.State.FAILED;
      try {
        if (committer != null) {
          committer.abortJob(context, how);
        }
      } catch (Throwable second) {
        LOG.warn("the committer of {} failed after the job did", id, second);
      }
      end(how, e instanceof JobEnd ? e.getMessage() : StringUtils.stringifyException(e));
    }
  }

  /** Reason why a job ended before its end. */
  private static final class JobEnd extends Exception {
    private static final long serialVersionUID = 1;

    JobEnd(String message) {
      super(message);
    }
  }

  private TaskRun[] tasks(TaskType type, int count, TaskSplitMetaInfo[] splits) {
    TaskRun[] made = new TaskRun[count];
    int failuresMax = type == TaskType.MAP ? conf.getMaxMapAttempts() : conf.getMaxReduceAttempts();
    for (int i = 0; i < count; i++) {
      made[i] = new TaskRun(new TaskID(id, type, i), splits == null ? null : splits[i], failuresMax);
    }
    return made;
  }

  /** Returns the committer of the job, chosen as by the master of a cluster. */
  private OutputCommitter committer() throws IOException, InterruptedException, ClassNotFoundException {
    boolean isNew = reduces.length > 0 ? conf.getUseNewReducer() : conf.getUseNewMapper();
    if (!isNew) {
      return ReflectionUtils.newInstance(conf.getClass("mapred.output.committer.class", FileOutputCommitter.class,
          org.apache.hadoop.mapred.OutputCommitter.class), conf);
    }
    TaskAttemptContext context =
        new TaskAttemptContextImpl(conf, new TaskAttemptID(new TaskID(id, TaskType.MAP, 0), 0));
    return ReflectionUtils.newInstance(context.getOutputFormatClass(), conf).getOutputCommitter(context);
  }

  /** Runs tasks until each has ended. Throws {@link JobEnd} if too many of them fail, or if the job is killed. */
  private void runAll(TaskRun[] tasks, int failuresPercentMax) throws JobEnd, InterruptedException {
    Deque<TaskRun> waiting = new ArrayDeque<>();
    for (TaskRun task : tasks) {
      waiting.add(task);
    }
    int left = tasks.length;
    int failed = 0;
    while (left > 0) {
      checkKilled();
      while (running.size() < slots && !waiting.isEmpty()) {
        start(waiting.poll());
      }
      AttemptRun attempt = ended.poll(WATCH_MS, TimeUnit.MILLISECONDS);
      if (attempt == null) {
        watch();
        continue;
      }
      running.remove(attempt);
      TaskRun task = attempt.task;
      events.add(attempt);
      if (task.status() == TIPStatus.RUNNING) {
        waiting.addFirst(task);
        continue;
      }
      left--;
      if (task.status() == TIPStatus.FAILED) {
        failed++;
        if (100L * failed > (long) failuresPercentMax * tasks.length) {
          throw new JobEnd("Task failed " + task.id + "\nJob failed as tasks failed. failedMaps:"
              + (task.isMap() ? failed : 0) + " failedReduces:" + (task.isMap() ? 0 : failed)
              + " killedMaps:0 killedReduces: 0\n");
        }
      }
    }
  }

  private void checkKilled() throws JobEnd {
    if (killed) {
      throw new JobEnd("Job received Kill while in RUNNING state.");
    }
  }

  private void start(TaskRun task) {
    AttemptRun attempt = new AttemptRun(task, task.nextId(), ended::add);
    task.add(attempt);
    running.add(attempt);
    String directories = folder.directories(attempt.id);
    TaskOrder order = new TaskOrder(attempt.id, jobFile.toString(), directories,
        task.isMap() ? task.split.getSplitIndex() : null, task.isMap() ? Collections.emptyMap() : mapDirectories(),
        task.bad(skips(task), SkipBadRecords.getAttemptsToStartSkipping(conf)));
    Thread thread = new Thread(ATTEMPTS, () -> runAttempt(attempt, order), attempt.id.toString());
    thread.setDaemon(true);
    thread.start();
  }

  /** Returns true if the job leaves out records, or groups of a reduce, at which its code fails. */
  private boolean skips(TaskRun task) {
    return (task.isMap() ? SkipBadRecords.getMapperMaxSkipRecords(conf) : SkipBadRecords.getReducerMaxSkipGroups(conf)) > 0;
  }

  private void runAttempt(AttemptRun attempt, TaskOrder order) {
    try {
      attempt.acquireSlot();
      user.doAs((PrivilegedExceptionAction<Void>) () -> {
        place.run(attempt, order, id -> commits && !killed && attempt.task.mayCommit(attempt));
        return null;
      });
      if (!attempt.task.isMap()) {
        folder.delete(attempt.id);
      }
      attempt.succeed(order.localDirectories());
    } catch (Throwable e) {
      folder.delete(attempt.id);
      Throwable why = unwrapped(e);
      if (why instanceof OutOfMemoryError) {
        isolate(attempt.id + " used up the memory of this JVM");
      }
      attempt.fail(why instanceof WorkerProcess.Failure
          ? why.getMessage() : "Error: " + StringUtils.stringifyException(why));
    } finally {
      attempt.releaseSlot();
    }
  }

  private static Throwable unwrapped(Throwable e) {
    boolean isWrapper = e instanceof UndeclaredThrowableException && e.getCause() != null;
    return isWrapper ? e.getCause() : e;
  }

  private Map<TaskAttemptID, String> mapDirectories() {
    Map<TaskAttemptID, String> directories = new LinkedHashMap<>();
    for (TaskRun map : maps) {
      AttemptRun last = map.last();
      if (map.status() == TIPStatus.COMPLETE && last.localDirectories() != null) {
        directories.put(last.id, last.localDirectories());
      }
    }
    return directories;
  }

  /** Ends attempts without progress, and abandons stopped ones that go on. */
  private void watch() {
    long limit_ms = conf.getLong(MRJobConfig.TASK_TIMEOUT, MRJobConfig.DEFAULT_TASK_TIMEOUT_MILLIS);
    for (AttemptRun attempt : running.toArray(new AttemptRun[0])) {
      if (limit_ms > 0 && attempt.isRunning() && !attempt.isStopping() && attempt.quiet_ms() > limit_ms) {
        attempt.stop(AttemptRun.State.FAILED,
            "AttemptID:" + attempt.id + " Timed out after " + limit_ms / 1000 + " secs" + attempt.stack());
      }
      if (attempt.abandonAfter(STOP_MS_MAX)) {
        attempt.releaseSlot();
        isolate("code of " + attempt.id + " does not stop");
      }
    }
  }

  private void stopAll() {
    for (AttemptRun attempt : running) {
      attempt.stop(AttemptRun.State.KILLED, "");
    }
    long end_ms = System.currentTimeMillis() + STOP_MS_MAX;
    while (!running.isEmpty() && System.currentTimeMillis() < end_ms) {
      try {
        AttemptRun attempt = ended.poll(WATCH_MS, TimeUnit.MILLISECONDS);
        if (attempt != null && running.remove(attempt)) {
          events.add(attempt);
        }
      } catch (InterruptedException e) {
        // A second request to kill the job; it is being killed.
      }
    }
    for (AttemptRun attempt : running) {
      attempt.abandon();
      events.add(attempt);
      attempt.releaseSlot();
    }
    running.clear();
    for (TaskRun[] tasks : new TaskRun[][] {maps, reduces}) {
      for (TaskRun task : tasks) {
        if (task.status() == TIPStatus.RUNNING || task.status() == TIPStatus.PENDING) {
          task.end(TIPStatus.KILLED);
        }
      }
    }
  }

  private void end(JobStatus.State how, String message) {
    finalCounters = JobTotals.of(maps, reduces);
    failure = message;
    cleanedUp = 1;
    place.close();
    finished_ms = System.currentTimeMillis();
    try {
      record.write(jobFile, conf);
      JobHistory.write(record, id, conf, started_ms, finished_ms, how, message, maps, reduces);
      record.prune(conf);
    } catch (IOException | RuntimeException | LinkageError e) {
      LOG.warn("there is no history of {}", id, e);
    }
    try {
      folder.close();
      FileSystem system = submitDirectory.getFileSystem(conf);
      system.delete(submitDirectory, true);
      // Empty directories of this JVM go too; Hadoop's client makes them again for the next job.
      deleteIfEmpty(system, submitDirectory.getParent());
      deleteIfEmpty(system, submitDirectory.getParent().getParent());
    } catch (IOException | RuntimeException e) {
      LOG.warn("cannot delete the files of {}", id, e);
    }
    state = how;
    finished.countDown();
    LOG.info("{} {} in {} s; see yunti hadoop report {}", id, how.name().toLowerCase(Locale.ROOT),
        (finished_ms - started_ms + 50) / 100 / 10.0, id);
    JobEndNotifier.localRunnerNotification(conf, org.apache.hadoop.mapred.JobStatus.downgrade(status()));
  }

  private static void deleteIfEmpty(FileSystem system, Path directory) throws IOException {
    if (system.exists(directory) && system.listStatus(directory).length == 0) {
      system.delete(directory, false);
    }
  }

  /** Waits at most this long for the job's end. */
  public void await(long limit_ms) {
    try {
      finished.await(limit_ms, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the job; its committer aborts it. */
  public void kill() {
    if (isEnded()) {
      return;
    }
    killed = true;
    thread.interrupt();
  }

  /**
   * Ends a running attempt.
   *
   * @param isFailure true if the attempt counts as failed
   * @return false if no such attempt runs
   */
  public boolean killTask(org.apache.hadoop.mapreduce.TaskAttemptID attemptId, boolean isFailure) {
    AttemptRun attempt = attempt(attemptId);
    if (attempt == null || !attempt.isRunning()) {
      return false;
    }
    attempt.stop(isFailure ? AttemptRun.State.FAILED : AttemptRun.State.KILLED,
        isFailure ? "Attempt failed by its user" : "Attempt killed by its user");
    return true;
  }

  /** Returns an attempt, or null. Identifiers of the two APIs are equal as text alone. */
  private AttemptRun attempt(org.apache.hadoop.mapreduce.TaskAttemptID attemptId) {
    for (TaskRun task : attemptId.getTaskType() == TaskType.MAP ? maps : reduces) {
      for (AttemptRun attempt : task.attempts()) {
        if (attempt.id.toString().equals(attemptId.toString())) {
          return attempt;
        }
      }
    }
    return null;
  }

  /** Waits for the end of the job. */
  public void join(long ms) throws InterruptedException {
    thread.join(ms);
  }

  /** Returns true for a thread that belongs to an attempt, which may have ended. */
  public static boolean isOfAttempt(Thread thread) {
    ThreadGroup group = thread.getThreadGroup();
    return group != null && ATTEMPTS.parentOf(group);
  }

  /** Returns true if the job ended and left nothing to do. */
  public boolean isOver() {
    return !thread.isAlive();
  }

  public boolean isEnded() {
    return state != JobStatus.State.PREP && state != JobStatus.State.RUNNING;
  }

  /** Returns the number of tasks. */
  public int tasks() {
    return maps.length + reduces.length;
  }

  public void setPriority(JobPriority newPriority) {
    priority = newPriority;
  }

  /**
   * Returns the job's state, as Hadoop's client wants it. Its progress changes once a second, because clients print
   * each change, and poll often so that they notice the end.
   */
  public synchronized JobStatus status() {
    long now_ns = System.nanoTime();
    if (isEnded() || now_ns - shown_ns >= SHOWN_NS) {
      shown_ns = now_ns;
      shownMaps = Status.progress(maps, setUp);
      shownReduces = Status.progress(reduces, setUp);
    }
    return new Status(this);
  }

  private static final class Status extends JobStatus {
    Status(JobRun run) {
      super(run.id, run.setUp, run.shownMaps, run.shownReduces, run.cleanedUp,
          run.state, run.priority, run.conf.getUser(), run.conf.getJobName(), run.conf.getQueueName(),
          run.jobFile.toString(), run.record.url(), false,
          run.isEnded() ? run.record.history().toURI().toString() : "");
      setStartTime(run.started_ms);
      setFinishTime(run.finished_ms);
      setFailureInfo(run.failure);
      setUsername(run.user.getShortUserName());
    }

    private static float progress(TaskRun[] tasks, float ifNone) {
      float sum = 0;
      for (TaskRun task : tasks) {
        sum += task.progress();
      }
      return tasks.length == 0 ? ifNone : sum / tasks.length;
    }
  }

  /** Returns the counters, also while the job runs. */
  public org.apache.hadoop.mapreduce.Counters counters() {
    Counters last = finalCounters;
    return new org.apache.hadoop.mapreduce.Counters(last == null ? JobTotals.of(maps, reduces) : last);
  }

  public TaskReport[] reports(TaskType type) {
    TaskRun[] tasks = type == TaskType.MAP ? maps : type == TaskType.REDUCE ? reduces : new TaskRun[0];
    TaskReport[] reports = new TaskReport[tasks.length];
    for (int i = 0; i < tasks.length; i++) {
      reports[i] = tasks[i].report();
    }
    return reports;
  }

  public TaskCompletionEvent[] events(int from, int countMax) {
    return events.from(from, countMax);
  }

  /** Returns the messages of an attempt. */
  public String[] diagnostics(org.apache.hadoop.mapreduce.TaskAttemptID attemptId) {
    AttemptRun attempt = attempt(attemptId);
    String message = attempt == null ? "" : attempt.diagnostics();
    return message.isEmpty() ? new String[0] : new String[] {message};
  }
}
