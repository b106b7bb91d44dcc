package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.ReflectionUtils;

/** Hadoop's output directory and committer for tasks that write their file natively; it takes no Java records. */
public final class NativeOutputFormat extends FileOutputFormat<NullWritable, NullWritable> {
  /** Returns the task's work file, which the committer renames at the end. */
  Path file(TaskAttemptContext context, String extension) throws IOException {
    return getDefaultWorkFile(context, extension);
  }

  /** Returns the output codec of the cluster's configuration, or null. */
  static CompressionCodec codec(TaskAttemptContext context) {
    return getCompressOutput(context)
        ? ReflectionUtils.newInstance(getOutputCompressorClass(context, GzipCodec.class), context.getConfiguration())
        : null;
  }

  @Override
  public RecordWriter<NullWritable, NullWritable> getRecordWriter(TaskAttemptContext context) {
    return new RecordWriter<>() {
      @Override
      public void write(NullWritable key, NullWritable value) throws IOException {
        throw new IOException("Yunti: a native task writes no Java records");
      }

      @Override
      public void close(TaskAttemptContext context) {}
    };
  }
}
