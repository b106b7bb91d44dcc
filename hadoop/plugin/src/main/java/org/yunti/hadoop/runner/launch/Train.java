package org.yunti.hadoop.runner.launch;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.lib.LongSumReducer;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.yunti.hadoop.runner.files.ThisProcess;
import org.yunti.hadoop.runner.record.JobRecord;
import org.yunti.hadoop.submit.WordCount;

/**
 * Two small jobs, one of each API, for the archive of classes that later programs start from ({@code make hadoop}), and
 * for JVMs that wait. They write in a temporary directory alone.
 */
public final class Train {
  private static final int LINES = 200;

  private Train() {}

  public static void main(String[] arguments) throws Exception {
    File temporary = new File(System.getProperty("java.io.tmpdir"));
    ThisProcess.deleteLeftovers(temporary);
    // The name says whose it is, if this process is killed.
    File directory = new File(temporary, "train-yunti-" + ThisProcess.id());
    Files.createDirectory(directory.toPath());
    try {
      RunJob.useRunner();
      Configuration conf = new Configuration();
      conf.set("hadoop.tmp.dir", new File(directory, "tmp").getPath());
      conf.set("mapreduce.jobtracker.staging.root.dir", new File(directory, "staging").getPath());
      conf.set(JobRecord.DIRECTORY, new File(directory, "record").getPath());
      File in = new File(directory, "in");
      List<String> lines = new ArrayList<>();
      for (int i = 0; i < LINES; i++) {
        lines.add("a line of words " + i);
      }
      Files.write(in.toPath(), lines, StandardCharsets.UTF_8);
      boolean isGood = words(conf, in, new File(directory, "words")) && old(conf, in, new File(directory, "old"));
      if (!isGood) {
        throw new IOException("a job failed");
      }
    } finally {
      FileUtil.fullyDelete(directory);
    }
  }

  private static boolean words(Configuration conf, File in, File out)
      throws IOException, InterruptedException, ClassNotFoundException {
    Job job = WordCount.job(conf, "words", new Path(in.toURI()), new Path(out.toURI()));
    job.setCombinerClass(IntSumReducer.class);
    return job.waitForCompletion(true);
  }

  private static boolean old(Configuration conf, File in, File out) throws IOException {
    JobConf job = new JobConf(conf);
    job.setMapperClass(org.apache.hadoop.mapred.lib.TokenCountMapper.class);
    job.setReducerClass(LongSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(org.apache.hadoop.io.LongWritable.class);
    org.apache.hadoop.mapred.FileInputFormat.addInputPath(job, new Path(in.toURI()));
    org.apache.hadoop.mapred.FileOutputFormat.setOutputPath(job, new Path(out.toURI()));
    return JobClient.runJob(job).isSuccessful();
  }
}
