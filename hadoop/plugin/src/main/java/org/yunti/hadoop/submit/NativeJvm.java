package org.yunti.hadoop.submit;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;

/**
 * Options of the JVMs whose records stay in native code. Their Java code is Hadoop's start of a task, which runs once:
 * the optimising compiler and a parallel collector take two fifths of its processor time and give nothing back.
 */
final class NativeJvm {
  private static final String COMPILER = "-XX:TieredStopAtLevel=1";
  private static final String COLLECTOR = "-XX:+UseSerialGC";

  private NativeJvm() {}

  /** Adds the options, except the ones that the job's user or the cluster's administrator chooses. */
  static void apply(Configuration conf) {
    add(conf, TaskType.MAP, MRJobConfig.MAPRED_MAP_ADMIN_JAVA_OPTS);
    add(conf, TaskType.REDUCE, MRJobConfig.MAPRED_REDUCE_ADMIN_JAVA_OPTS);
  }

  private static void add(Configuration conf, TaskType type, String setting) {
    String chosen = new JobConf(conf).getTaskJavaOpts(type);
    StringBuilder options = new StringBuilder(conf.get(setting, MRJobConfig.DEFAULT_MAPRED_ADMIN_JAVA_OPTS));
    if (!chosen.contains("TieredStopAtLevel") && !chosen.contains("TieredCompilation")) {
      options.append(' ').append(COMPILER);
    }
    // A JVM refuses two collectors.
    if (!chosen.matches(".*-XX:\\+Use\\w*GC\\b.*")) {
      options.append(' ').append(COLLECTOR);
    }
    conf.set(setting, options.toString());
  }
}
