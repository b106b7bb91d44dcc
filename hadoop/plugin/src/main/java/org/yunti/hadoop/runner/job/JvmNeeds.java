package org.yunti.hadoop.runner.job;

import org.apache.hadoop.mapred.JobConf;
import org.yunti.hadoop.runner.RunnerSettings;
import org.yunti.hadoop.runner.load.ClassTraits;
import org.yunti.hadoop.runner.worker.WorkerSettings;

/** Reasons why the tasks of a job need JVMs: traits of its classes, and settings that only a JVM can have. */
final class JvmNeeds {
  private static final String JDBC = "mapreduce.jdbc.driver.class";
  private static final String SERIALIZATIONS = "io.serializations";

  private static final String[] OPTIONS = {
    "mapred.child.java.opts", JobConf.MAPRED_MAP_TASK_JAVA_OPTS, JobConf.MAPRED_REDUCE_TASK_JAVA_OPTS
  };

  private static final String[] VARIABLES = {
    "mapred.child.env", JobConf.MAPRED_MAP_TASK_ENV, JobConf.MAPRED_REDUCE_TASK_ENV
  };

  private JvmNeeds() {}

  /** Returns the first reason, in words, or null. */
  static String of(ClassTraits classes, JobConf conf) {
    String plain = plain(classes, conf);
    if (plain != null) {
      return plain;
    }
    return classes.ownDirectory() != null ? classes.ownDirectory() : ofSettings(conf);
  }

  /** Returns why the job's classes must be on the class path of a JVM, as on a cluster, or null. */
  static String plain(ClassTraits classes, JobConf conf) {
    if (classes.ownJvm() != null) {
      return classes.ownJvm();
    }
    // These load classes of the job by the class loader of Hadoop's classes.
    if (conf.get(JDBC) != null) {
      return JDBC + " names a driver";
    }
    return conf.get(SERIALIZATIONS, "").contains("JavaSerialization") ? "keys or values are Java's own objects" : null;
  }

  private static String ofSettings(JobConf conf) {
    for (String key : VARIABLES) {
      if (!conf.get(key, "").isEmpty() || !conf.getPropsWithPrefix(key + ".").isEmpty()) {
        return key + " sets variables of tasks";
      }
    }
    for (String key : OPTIONS) {
      String options = RunnerSettings.isFrom(conf, key, "-default.xml") ? "" : conf.get(key, "");
      for (String option : options.split("\\s+")) {
        // The size of the heap is the program's own.
        if (option.startsWith("-D") || option.startsWith("-javaagent") || option.startsWith("-agent")
            || option.startsWith("--")) {
          return key + " sets " + option;
        }
      }
    }
    return WorkerSettings.opensAsCluster(conf) ? WorkerSettings.OPENS + " is true" : null;
  }
}
