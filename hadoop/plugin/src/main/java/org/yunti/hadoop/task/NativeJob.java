package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.yunti.hadoop.NativeLibrary;

/** What the tasks of a job that is native throughout find in its configuration. */
public final class NativeJob {
  /** The text of the job file (docs/formats/job-toml.md). */
  public static final String SETTING = "yunti.hadoop.job";

  /** Where the partitions of a total order begin; set by {@link #sample}. */
  static final String BOUNDS = "yunti.hadoop.bounds";

  /** Whether files that are not compressed may be cut; set by {@link #prepare}. */
  static final String SPLITTABLE = "yunti.hadoop.splittable";

  private NativeJob() {}

  /** The job, or null if this one is not native. */
  public static String of(Configuration conf) {
    return conf.getRaw(SETTING);
  }

  /**
   * Looks into the input: how it may be cut, and, for a total order over several reduces, a sample. To be called before the job is
   * submitted; {@code libraries} are where they lie here.
   */
  public static void prepare(Job job, List<String> libraries) throws IOException {
    NativeLibrary.load();
    String[] own = libraries.toArray(new String[0]);
    job.getConfiguration().setBoolean(SPLITTABLE, NativeTask.splittable(of(job.getConfiguration()), own));
    Set<String> paths = new LinkedHashSet<>();
    for (InputSplit split : new NativeInputFormat().getSplits(job)) {
      paths.add(((FileSplit) split).getPath().toString());
    }
    try (TaskFiles files = new TaskFiles(job.getConfiguration(), Reporter.NULL)) {
      String bounds =
          NativeTask.bounds(
              of(job.getConfiguration()), files, own, paths.toArray(new String[0]));
      if (bounds != null) {
        job.getConfiguration().set(BOUNDS, bounds);
      }
    }
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
