package org.yunti.hadoop.oldapi;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputFormat;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Adapter of an output format of the API {@code org.apache.hadoop.mapred} for jobs of the API {@code
 * org.apache.hadoop.mapreduce}. Files are named part-00000, as in the old API. Hadoop's FileOutputCommitter commits
 * them; a job with another committer fails.
 */
public final class OldOutputFormat extends org.apache.hadoop.mapreduce.OutputFormat<Object, Object> {
  /** Setting: class name of the old output format. */
  public static final String SETTING = "yunti.hadoop.old.output.format";

  private FileOutputCommitter committer;

  private static OutputFormat<Object, Object> format(JobConf conf) {
    @SuppressWarnings("unchecked")
    OutputFormat<Object, Object> format =
        (OutputFormat<Object, Object>) ReflectionUtils.newInstance(conf.getClass(SETTING, null, OutputFormat.class), conf);
    return format;
  }

  @Override
  public void checkOutputSpecs(JobContext context) throws IOException {
    JobConf conf = new JobConf(context.getConfiguration());
    Class<?> own = conf.getOutputCommitter().getClass();
    if (own != org.apache.hadoop.mapred.FileOutputCommitter.class) {
      throw new IOException("Yunti: an output format of the old API needs the FileOutputCommitter, not " + own.getName());
    }
    format(conf).checkOutputSpecs(FileSystem.get(conf), conf);
  }

  @Override
  public synchronized OutputCommitter getOutputCommitter(TaskAttemptContext context) throws IOException {
    if (committer == null) {
      Path output = FileOutputFormat.getOutputPath(new JobConf(context.getConfiguration()));
      committer = new FileOutputCommitter(output, context);
    }
    return committer;
  }

  @Override
  public RecordWriter<Object, Object> getRecordWriter(TaskAttemptContext context) throws IOException {
    JobConf conf = new JobConf(context.getConfiguration());
    Path work = ((FileOutputCommitter) getOutputCommitter(context)).getWorkPath();
    if (work != null) {
      // File formats of the old API read their directory from this setting.
      conf.set(JobContext.TASK_OUTPUT_DIR, work.toString());
    }
    String name = String.format("part-%05d", context.getTaskAttemptID().getTaskID().getId());
    ContextReporter reporter = new ContextReporter(context, null);
    org.apache.hadoop.mapred.RecordWriter<Object, Object> writer =
        format(conf).getRecordWriter(FileSystem.get(conf), conf, name, reporter);
    return new RecordWriter<Object, Object>() {
      @Override
      public void write(Object key, Object value) throws IOException {
        writer.write(key, value);
      }

      @Override
      public void close(TaskAttemptContext context) throws IOException {
        writer.close(reporter);
      }
    };
  }
}
