package org.yunti.hadoop.conformance.trace;

import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.input.SequenceInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Trial;

/**
 * Standard case: drawn records pass an identity mapper, and a {@link TraceReducer} logs the input of reduce. It has
 * three maps and three reduces unless a tweak changes them.
 */
public final class Traced {
  private static final int FILES = 3;
  private static final int RECORDS_PER_FILE = 700;

  private Traced() {}

  public static <K, V> Case of(String name, Class<K> keyClass, Draw<? extends K> keys, Class<V> valueClass,
      Draw<? extends V> values) {
    return of(name, keyClass, keys, valueClass, values, FILES, RECORDS_PER_FILE);
  }

  public static <K, V> Case of(String name, Class<K> keyClass, Draw<? extends K> keys, Class<V> valueClass,
      Draw<? extends V> values, int files, int recordsPerFile) {
    return Case.of(name)
        .input(new SequenceInput<>(keyClass, keys, valueClass, values, "seq", files, recordsPerFile))
        .body(trial -> trial.submit(trial.tweaked(job(trial, keyClass, valueClass))));
  }

  /** Returns the case with one line per class of equal keys instead of one per record: see {@link Trace}. */
  public static Case digested(Case traced) {
    return traced.set(Trace.DIGEST, true);
  }

  public static Job job(Trial trial, Class<?> mapKeyClass, Class<?> mapValueClass) throws Exception {
    Job job = Job.getInstance(trial.conf());
    job.setInputFormatClass(SequenceFileInputFormat.class);
    FileInputFormat.addInputPath(job, trial.input("seq"));
    job.setMapperClass(Mapper.class);
    job.setMapOutputKeyClass(mapKeyClass);
    job.setMapOutputValueClass(mapValueClass);
    job.setReducerClass(TraceReducer.class);
    job.setNumReduceTasks(3);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    job.setOutputFormatClass(TextOutputFormat.class);
    FileOutputFormat.setOutputPath(job, trial.output("out"));
    return job;
  }
}
