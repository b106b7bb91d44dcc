package org.yunti.table.hadoop;

import java.io.IOException;

import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.LineRecordReader;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;

/** Reader for jobs of Yunti whose mapper is native: of lines {@code NUMBER,USER}, the cities of known users. */
public final class CityLines extends FileInputFormat<LongWritable, Text> {
  @Override
  public RecordReader<LongWritable, Text> createRecordReader(InputSplit split, TaskAttemptContext context) {
    return new Cities();
  }

  private static final class Cities extends RecordReader<LongWritable, Text> {
    private final LineRecordReader lines = new LineRecordReader();
    private final Text city = new Text();
    private SharedTable users;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) throws IOException {
      lines.initialize(split, context);
      users = SharedTables.open(context, "users");
    }

    @Override
    public boolean nextKeyValue() throws IOException {
      while (lines.nextKeyValue()) {
        Row user = users.get(Long.parseLong(lines.getCurrentValue().toString().split(",")[1]));
        if (user != null) {
          city.set(user.getUtf8("city"));
          return true;
        }
      }
      return false;
    }

    @Override
    public LongWritable getCurrentKey() {
      return lines.getCurrentKey();
    }

    @Override
    public Text getCurrentValue() {
      return city;
    }

    @Override
    public float getProgress() throws IOException {
      return lines.getProgress();
    }

    @Override
    public void close() throws IOException {
      lines.close();
      if (users != null) {
        users.close();
      }
    }
  }
}
