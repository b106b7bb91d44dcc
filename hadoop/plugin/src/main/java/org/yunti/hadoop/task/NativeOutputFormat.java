package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** Hadoop's output directory and committer, for tasks that write their file natively: there are no Java records. */
public final class NativeOutputFormat extends FileOutputFormat<NullWritable, NullWritable> {
  /** Where the task writes; the committer gives it its name in the end. */
  String file(TaskAttemptContext context) throws IOException {
    return getDefaultWorkFile(context, NativeTask.extension(NativeJob.of(context.getConfiguration()))).toString();
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
