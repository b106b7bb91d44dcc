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
import org.yunti.hadoop.runner.record.JobRecord;
import org.yunti.hadoop.runner.worker.WorkerProcess;

/**
 * Tasks in JVMs of their own: one a slot, used by one task after the other, or one a task. Each has a working directory
 * with the job's cache files.
 */
final class InWorkers implements TaskPlace {
  private final JobConf conf;
  private final JobFolder folder;
  private final JobRecord record;
  private final boolean reuses;
  private final File settings;
  private final Deque<WorkerProcess> idle = new ArrayDeque<>();
  private final Set<WorkerProcess> all = new HashSet<>();
  private int started;
  private boolean closed;

  /** @param reuses true if a JVM runs one task after the other */
  InWorkers(JobConf conf, JobFolder folder, JobRecord record, boolean reuses) throws IOException {
    this.conf = conf;
    this.folder = folder;
    this.record = record;
    this.reuses = reuses;
    settings = folder.file("job.xml");
    try (OutputStream out = new FileOutputStream(settings)) {
      conf.writeXml(out);
    }
  }

  @Override
  public void run(AttemptRun attempt, TaskOrder order, AttemptUmbilical.Job answers) throws Exception {
    WorkerProcess worker = take();
    attempt.runs(new RunningAttempt() {
      @Override
      public AttemptState state() {
        return worker.state();
      }

      @Override
      public boolean takeProgress() {
        return worker.takeProgress();
      }

      @Override
      public void cancel() {
        worker.kill();
      }

      @Override
      public void abandon() {
        worker.kill();
      }

      @Override
      public String stack() {
        return "";
      }
    });
    boolean isGood = false;
    try {
      worker.run(order, answers);
      isGood = true;
    } finally {
      // After a failure nobody knows what the JVM's state is.
      giveBack(worker, isGood && reuses);
    }
  }

  private WorkerProcess take() throws IOException {
    int number;
    synchronized (this) {
      if (closed) {
        throw new IOException("the job ended");
      }
      WorkerProcess worker = idle.poll();
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
    if (!new File(directory, "tmp").mkdir()) {
      throw new IOException("cannot create " + directory + "/tmp");
    }
    record.make();
    WorkerProcess worker = new WorkerProcess(options(directory), classPath(), environment(), directory,
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
        record.directory());
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
    if (!new File(directory, "tmp").mkdir()) {
      throw new IOException("cannot create " + directory + "/tmp");
    }
  }

  private void giveBack(WorkerProcess worker, boolean isGood) {
    synchronized (this) {
      if (isGood && !closed) {
        idle.push(worker);
        return;
      }
      all.remove(worker);
    }
    worker.end();
  }

  /** Returns the job's jars and the program's own class path, in the order of a cluster. */
  private String classPath() throws IOException {
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

  /** Returns the JVM's options: those of the job, whose tasks of both kinds run here. */
  private List<String> options(File directory) {
    List<String> options = new ArrayList<>();
    options.add("-XX:+UseSerialGC"); // A worker has one processor.
    options.add("-Djava.io.tmpdir=" + new File(directory, "tmp").getAbsolutePath());
    String map = conf.getTaskJavaOpts(TaskType.MAP);
    String reduce = conf.getTaskJavaOpts(TaskType.REDUCE);
    for (String option : (map + " " + reduce).trim().split("\\s+")) {
      if (!option.isEmpty() && !options.contains(option)) {
        options.add(option.replace("@taskid@", "worker"));
      }
    }
    String log = System.getProperty("log4j.configuration");
    if (log != null) {
      options.add("-Dlog4j.configuration=" + log);
    }
    return options;
  }

  /** Returns the variables that the job sets for its tasks. */
  private Map<String, String> environment() {
    Map<String, String> variables = new HashMap<>();
    for (String key : new String[] {JobConf.MAPRED_MAP_TASK_ENV, JobConf.MAPRED_REDUCE_TASK_ENV}) {
      for (String pair : conf.get(key, "").split(",")) {
        int equals = pair.indexOf('=');
        if (equals > 0) {
          variables.put(pair.substring(0, equals).trim(), pair.substring(equals + 1));
        }
      }
      String prefix = key + ".";
      for (Map.Entry<String, String> one : conf.getPropsWithPrefix(prefix).entrySet()) {
        variables.put(one.getKey(), one.getValue());
      }
    }
    return variables;
  }

  @Override
  public void close() {
    List<WorkerProcess> left;
    synchronized (this) {
      closed = true;
      left = new ArrayList<>(idle);
      all.removeAll(left);
      idle.clear();
      for (WorkerProcess busy : all) {
        busy.kill();
      }
    }
    for (WorkerProcess worker : left) {
      worker.end();
    }
  }
}
