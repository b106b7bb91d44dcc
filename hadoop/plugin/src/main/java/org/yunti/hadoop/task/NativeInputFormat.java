package org.yunti.hadoop.task;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.yunti.hadoop.NativeLibrary;

/** Hadoop's file splits for tasks that read them natively; it produces no Java records. */
public final class NativeInputFormat extends FileInputFormat<NullWritable, NullWritable> {
  /** Setting: numbers of the sources whose files are not split, whatever their format is. */
  private static final String WHOLE = "yunti.hadoop.whole.sources";

  @Override
  protected boolean isSplitable(JobContext context, Path file) {
    Configuration conf = context.getConfiguration();
    String cut = conf.get(NativeJob.SPLITTABLE, "false");
    return cut.equals(NativeJob.UNITS)
        || (!cut.equals("false") && !compressed(file))
        || (cut.equals(NativeJob.BLOCKS) && hasBlocks(file));
  }

  /** Returns the splits of each source in order. One file may belong to several sources. */
  @Override
  public List<InputSplit> getSplits(JobContext context) throws IOException {
    Configuration conf = context.getConfiguration();
    int[] counts = conf.getInts(NativeJob.SOURCES);
    if (counts.length == 0) {
      return super.getSplits(context);
    }
    String[] splittable = conf.getStrings(NativeJob.SPLITTABLE);
    for (int whole : conf.getInts(WHOLE)) {
      splittable[whole] = "false";
    }
    Path[] paths = getInputPaths(context);
    List<InputSplit> splits = new ArrayList<>();
    long files = 0;
    int from = 0;
    for (int source = 0; source < counts.length; source++) {
      Job one = Job.getInstance(conf);
      setInputPaths(one, Arrays.copyOfRange(paths, from, from + counts[source]));
      one.getConfiguration().set(NativeJob.SPLITTABLE, splittable[source]);
      for (InputSplit split : super.getSplits(one)) {
        splits.add(new SourceSplit((FileSplit) split, source));
      }
      files += one.getConfiguration().getLong(NUM_INPUT_FILES, 0);
      from += counts[source];
    }
    conf.setLong(NUM_INPUT_FILES, files);
    return splits;
  }

  /** Returns true for files of columns, whose names show no codec. */
  private static boolean hasUnits(Configuration conf) {
    return NativeJob.UNITS.equals(conf.get(NativeJob.SPLITTABLE));
  }

  private static boolean compressed(Path file) {
    try {
      return NativeTask.compressed(file.getName());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean hasBlocks(Path file) {
    try {
      return NativeTask.hasBlocks(file.getName());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Lists the input files. Refuses files whose codec only Hadoop knows, because native code would read their compressed
   * bytes as records.
   */
  @Override
  protected List<FileStatus> listStatus(JobContext context) throws IOException {
    NativeLibrary.load();
    CompressionCodecFactory codecs = new CompressionCodecFactory(context.getConfiguration());
    List<FileStatus> files = super.listStatus(context);
    for (FileStatus file : files) {
      CompressionCodec codec = codecs.getCodec(file.getPath());
      if (codec != null && !hasUnits(context.getConfiguration()) && !compressed(file.getPath())) {
        throw new IOException(
            "native tasks cannot read " + codec.getClass().getSimpleName() + ": " + file.getPath() + ": decompress it first");
      }
    }
    return files;
  }

  @Override
  public RecordReader<NullWritable, NullWritable> createRecordReader(InputSplit split, TaskAttemptContext context) {
    return new NoRecords();
  }

  private static final class NoRecords extends RecordReader<NullWritable, NullWritable> {
    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {}

    @Override
    public boolean nextKeyValue() {
      return false;
    }

    @Override
    public NullWritable getCurrentKey() {
      return NullWritable.get();
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
