package org.yunti.hadoop.runner.job;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TaskType;

/** Options and variables that a job sets for the JVMs of its maps or of its reduces. */
final class WorkerSettings {
  private static final Pattern COLLECTOR = Pattern.compile("-XX:[+-]Use\\w*GC");
  /** Options of the program's JVM that help a worker too: the archive of classes, when to compile, native libraries. */
  private static final Pattern INHERITED =
      Pattern.compile("-XX:SharedArchiveFile=.*|-Xlog:cds.*|-XX:Tier4.*|--enable-native-access.*");

  private final List<String> options = new ArrayList<>();
  private final Map<String, String> environment = new HashMap<>();

  WorkerSettings(JobConf conf, TaskType type) {
    boolean choosesCollector = false;
    for (String option : conf.getTaskJavaOpts(type).trim().split("\\s+")) {
      if (!option.isEmpty()) {
        options.add(option.replace("@taskid@", "worker"));
        choosesCollector |= COLLECTOR.matcher(option).matches();
      }
    }
    if (!choosesCollector) {
      options.add(0, "-XX:+UseSerialGC"); // A worker has one processor.
    }
    int first = 0;
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (INHERITED.matcher(option).matches()) {
        options.add(first++, option); // The job's own come later, and win.
      }
    }
    String log = System.getProperty("log4j.configuration");
    if (log != null) {
      options.add("-Dlog4j.configuration=" + log);
    }
    readEnvironment(conf, type == TaskType.MAP ? JobConf.MAPRED_MAP_TASK_ENV : JobConf.MAPRED_REDUCE_TASK_ENV);
  }

  private void readEnvironment(JobConf conf, String key) {
    for (String pair : conf.get(key, "").split(",")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        environment.put(pair.substring(0, equals).trim(), pair.substring(equals + 1));
      }
    }
    for (Map.Entry<String, String> one : conf.getPropsWithPrefix(key + ".").entrySet()) {
      environment.put(one.getKey(), one.getValue());
    }
  }

  /** Returns the options of a JVM in this working directory. */
  List<String> options(File directory) {
    List<String> all = new ArrayList<>();
    all.add("-Djava.io.tmpdir=" + new File(directory, "tmp").getAbsolutePath());
    all.addAll(options);
    return all;
  }

  Map<String, String> environment() {
    return environment;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkerSettings && ((WorkerSettings) other).options.equals(options)
        && ((WorkerSettings) other).environment.equals(environment);
  }

  @Override
  public int hashCode() {
    return options.hashCode();
  }
}
