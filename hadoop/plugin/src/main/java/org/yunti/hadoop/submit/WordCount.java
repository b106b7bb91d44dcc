package org.yunti.hadoop.submit;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.yunti.hadoop.collect.NativeMapOutputCollector;
import org.yunti.hadoop.shuffle.NativeShuffle;

/** Word count of Hadoop's own classes: the job by which Yunti tries a cluster, and warms JVMs up. */
public final class WordCount {
  private WordCount() {}

  /** Lets native code collect and merge; Hadoop's own code runs where it declines. */
  public static void useNativeCode(Configuration conf) {
    conf.set(
        MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR,
        NativeMapOutputCollector.class.getName() + ",org.apache.hadoop.mapred.MapTask$MapOutputBuffer");
    conf.set(MRConfig.SHUFFLE_CONSUMER_PLUGIN, NativeShuffle.class.getName());
  }

  /** Returns the job, without a combiner. */
  public static Job job(Configuration conf, String name, Path in, Path out) throws IOException {
    Job job = Job.getInstance(conf, name);
    job.setMapperClass(TokenCounterMapper.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, in);
    FileOutputFormat.setOutputPath(job, out);
    return job;
  }
}
