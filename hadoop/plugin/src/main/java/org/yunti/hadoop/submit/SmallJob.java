package org.yunti.hadoop.submit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.yunti.hadoop.collect.NativeMapOutputCollector;
import org.yunti.hadoop.shuffle.NativeShuffle;
import org.yunti.hadoop.warm.WarmStart;

/** Word count of one line, with one map, one reduce and native map output: tries a cluster and its settings. */
final class SmallJob {
  /** Number of its tasks. */
  static final int TASKS = 2;

  /** Counters of the tasks, or null if the job failed. */
  final Counters counters;

  /** Milliseconds from the submission to the end of the job, by the cluster's clock. */
  final long wallMs;

  /** Reason of the failure, or null. */
  final String failure;

  private SmallJob(Counters counters, long wallMs, String failure) {
    this.counters = counters;
    this.wallMs = wallMs;
    this.failure = failure;
  }

  /** Runs the job with these settings, and waits for its end. Its files are removed. */
  static SmallJob run(Configuration settings) throws IOException, InterruptedException, ClassNotFoundException {
    Configuration conf = new Configuration(settings);
    conf.set(
        MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR,
        NativeMapOutputCollector.class.getName() + ",org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
    conf.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, NativeShuffle.class.getName());
    WarmStart.apply(conf);
    FileSystem files = FileSystem.get(conf);
    Path folder = new Path("/tmp/yunti-check-" + System.nanoTime());
    try {
      try (FSDataOutputStream out = files.create(new Path(folder, "in/text"))) {
        out.write("a b a\n".getBytes(StandardCharsets.UTF_8));
      }
      Job job = Job.getInstance(conf, "yunti hadoop check");
      job.setJarByClass(Check.class);
      job.setMapperClass(TokenCounterMapper.class);
      job.setReducerClass(IntSumReducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(IntWritable.class);
      job.setNumReduceTasks(1);
      FileInputFormat.addInputPath(job, new Path(folder, "in"));
      FileOutputFormat.setOutputPath(job, new Path(folder, "out"));
      if (!job.waitForCompletion(false)) {
        return new SmallJob(null, 0, job.getStatus().getFailureInfo());
      }
      JobStatus status = job.getStatus();
      return new SmallJob(job.getCounters(), status.getFinishTime() - status.getStartTime(), null);
    } finally {
      files.delete(folder, true);
    }
  }
}
