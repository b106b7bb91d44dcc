package org.yunti.hadoop.oldapi;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Adapter of an input format of the API {@code org.apache.hadoop.mapred} for jobs of the API {@code
 * org.apache.hadoop.mapreduce}.
 */
public final class OldInputFormat extends org.apache.hadoop.mapreduce.InputFormat<Object, Object> {
  /** Setting: class name of the old input format. */
  public static final String SETTING = "yunti.hadoop.old.input.format";

  private static InputFormat<Object, Object> format(JobConf conf) {
    @SuppressWarnings("unchecked")
    InputFormat<Object, Object> format =
        (InputFormat<Object, Object>) ReflectionUtils.newInstance(conf.getClass(SETTING, null, InputFormat.class), conf);
    return format;
  }

  @Override
  public List<InputSplit> getSplits(JobContext context) throws IOException {
    JobConf conf = new JobConf(context.getConfiguration());
    List<InputSplit> splits = new ArrayList<>();
    for (org.apache.hadoop.mapred.InputSplit split : format(conf).getSplits(conf, conf.getNumMapTasks())) {
      splits.add(new OldSplit(split));
    }
    return splits;
  }

  @Override
  public RecordReader<Object, Object> createRecordReader(InputSplit split, TaskAttemptContext context) {
    return new Reader();
  }

  private static final class Reader extends RecordReader<Object, Object> {
    private org.apache.hadoop.mapred.RecordReader<Object, Object> reader;
    private Object key;
    private Object value;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) throws IOException {
      JobConf conf = new JobConf(context.getConfiguration());
      org.apache.hadoop.mapred.InputSplit old = ((OldSplit) split).split();
      reader = format(conf).getRecordReader(old, conf, new ContextReporter(context, old));
      key = reader.createKey();
      value = reader.createValue();
    }

    @Override
    public boolean nextKeyValue() throws IOException {
      return reader.next(key, value);
    }

    @Override
    public Object getCurrentKey() {
      return key;
    }

    @Override
    public Object getCurrentValue() {
      return value;
    }

    @Override
    public float getProgress() throws IOException {
      return reader.getProgress();
    }

    @Override
    public void close() throws IOException {
      // Hadoop also closes the reader of a task that could not open its split.
      if (reader != null) {
        reader.close();
      }
    }
  }
}
