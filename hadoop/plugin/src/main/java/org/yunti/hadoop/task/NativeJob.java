package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.yunti.hadoop.NativeLibrary;

/** What the tasks of a job that is native throughout find in its configuration. */
public final class NativeJob {
  /** The text of the job file (docs/formats/job-toml.md). */
  public static final String SETTING = "yunti.hadoop.job";

  private NativeJob() {}

  /** The job, or null if this one is not native. */
  public static String of(Configuration conf) {
    return conf.getRaw(SETTING);
  }

  /** Whether the job's keys are merged against the order of their bytes. */
  public static boolean reversed(Configuration conf) throws IOException {
    NativeLibrary.load();
    return NativeTask.reversed(of(conf));
  }

  /** What a map task may take for records. */
  static long mapMemoryBytes(JobConf job) {
    return (long) job.getInt(MRJobConfig.IO_SORT_MB, MRJobConfig.DEFAULT_IO_SORT_MB) << 20;
  }
}
