package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.ReflectionUtils;

/** Hadoop's output directory and committer for tasks that write their file natively; it takes no Java records. */
public final class NativeOutputFormat extends FileOutputFormat<NullWritable, NullWritable> {
  /** Place of bad records in an output. */
  static final String BAD_RECORDS = "_yunti/bad-records";

  /** Setting: what happens to bad records, as in {@code skip:10}. */
  private static final String LIMIT = "bad.records";

  private static final Pattern NUMBER = Pattern.compile("skip:(\\d+)");

  private OutputCommitter limited;

  /** Returns Hadoop's committer, which also counts bad records if the job limits their number. */
  @Override
  public synchronized OutputCommitter getOutputCommitter(TaskAttemptContext context) throws IOException {
    if (limited == null) {
      OutputCommitter own = super.getOutputCommitter(context);
      Matcher limit = NUMBER.matcher(context.getConfiguration().getTrimmed(LIMIT, ""));
      limited =
          limit.matches() && own.getClass() == FileOutputCommitter.class
              ? new LimitedCommitter(getOutputPath(context), context, Long.parseLong(limit.group(1)))
              : own;
    }
    return limited;
  }

  /** Returns the task's work file, which the committer renames at the end. */
  Path file(TaskAttemptContext context, String extension) throws IOException {
    Path file = getDefaultWorkFile(context, extension);
    if (!context.getConfiguration().getBoolean(NativeJob.PLAIN_PARTS, false)) {
      return file;
    }
    int number = context.getTaskAttemptID().getTaskID().getId();
    return new Path(file.getParent(), String.format(Locale.ROOT, "part-%05d%s", number, extension));
  }

  /** Returns the output codec of the cluster's configuration, or null. */
  static CompressionCodec codec(TaskAttemptContext context) {
    return getCompressOutput(context)
        ? ReflectionUtils.newInstance(getOutputCompressorClass(context, GzipCodec.class), context.getConfiguration())
        : null;
  }

  @Override
  public RecordWriter<NullWritable, NullWritable> getRecordWriter(TaskAttemptContext context) {
    return new RecordWriter<NullWritable, NullWritable>() {
      @Override
      public void write(NullWritable key, NullWritable value) throws IOException {
        throw new IOException("Yunti: a native task writes no Java records");
      }

      @Override
      public void close(TaskAttemptContext context) {}
    };
  }
}
