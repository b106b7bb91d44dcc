package org.yunti.hadoop.faults;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Self-checking job: maps generate records, reduces check the order of keys, and both add up a hash of every record. It
 * reads and writes no files, so that it uses disk and network only for spilling and shuffling.
 *
 * <pre>
 *   flood.maps, flood.records (per map), flood.value.bytes
 *   flood.large.every, flood.large.bytes each Nth record has a value of this size
 *   flood.fail.map, flood.fail.reduce    the task of this number fails half-way, in every attempt
 *   flood.combine, flood.fail.combine    a combiner that passes records on; and fails
 *   flood.catch                          the maps catch each IOException of the collector, and continue
 * </pre>
 *
 * Exit code 0: every record arrived once. 1: the job failed. 3: other records arrived.
 */
public final class Flood extends Configured implements Tool {
  private static final String MAPS = "flood.maps";
  private static final String RECORDS = "flood.records";
  private static final String VALUE_BYTES = "flood.value.bytes";
  private static final String LARGE_EVERY = "flood.large.every";
  private static final String LARGE_BYTES = "flood.large.bytes";
  private static final String COMBINE = "flood.combine";
  private static final String FAIL_COMBINE = "flood.fail.combine";
  private static final String CATCH = "flood.catch";
  static final String FAIL_MAP = "flood.fail.map";
  static final String FAIL_REDUCE = "flood.fail.reduce";

  enum Flooded {
    MAPPED_RECORDS,
    MAPPED_HASH,
    REDUCED_RECORDS,
    REDUCED_HASH
  }

  /** Input format with one split per map; a split is its number. */
  public static final class Springs extends InputFormat<NullWritable, NullWritable> {
    @Override
    public List<InputSplit> getSplits(JobContext context) {
      List<InputSplit> splits = new ArrayList<>();
      for (int i = 0; i < context.getConfiguration().getInt(MAPS, 2); i++) {
        splits.add(new Spring());
      }
      return splits;
    }

    @Override
    public RecordReader<NullWritable, NullWritable> createRecordReader(InputSplit split, TaskAttemptContext context) {
      return new Once();
    }
  }

  public static final class Spring extends InputSplit implements Writable {
    @Override
    public long getLength() {
      return 1;
    }

    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) {}

    @Override
    public void readFields(DataInput in) {}
  }

  /** Reader of one empty record. */
  private static final class Once extends RecordReader<NullWritable, NullWritable> {
    private boolean given;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {}

    @Override
    public boolean nextKeyValue() {
      boolean first = !given;
      given = true;
      return first;
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
      return given ? 1 : 0;
    }

    @Override
    public void close() {}
  }

  /** Generator of the records of one map, the same each time. */
  private static final class Spout {
    final Text key = new Text();
    final BytesWritable value = new BytesWritable();
    private final SplittableRandom random;
    private final byte[] small;
    private final byte[] large;
    private final long largeEvery;
    private long drawn;

    Spout(Configuration conf, int map) {
      random = new SplittableRandom(map);
      small = new byte[conf.getInt(VALUE_BYTES, 90)];
      large = new byte[conf.getInt(LARGE_BYTES, 0)];
      largeEvery = conf.getLong(LARGE_EVERY, Long.MAX_VALUE);
    }

    /** Generates the next record; returns its hash. */
    long draw() {
      byte[] bytes = ++drawn % largeEvery == 0 ? large : small;
      random.nextBytes(bytes);
      key.set(Long.toUnsignedString(random.nextLong(), 36));
      value.set(bytes, 0, bytes.length);
      return hash(key, value);
    }
  }

  public static final class Drawing extends Mapper<NullWritable, NullWritable, Text, BytesWritable> {
    @Override
    protected void map(NullWritable none, NullWritable nothing, Context context) throws IOException, InterruptedException {
      Configuration conf = context.getConfiguration();
      int map = context.getTaskAttemptID().getTaskID().getId();
      long records = conf.getLong(RECORDS, 1000);
      boolean fails = conf.getInt(FAIL_MAP, -1) == map;
      boolean catches = conf.getBoolean(CATCH, false);
      Spout spout = new Spout(conf, map);
      long hash = 0;
      for (long i = 0; i < records; i++) {
        if (fails && i == records / 2) {
          throw new IOException("a map task fails half-way, as configured");
        }
        hash += spout.draw();
        try {
          context.write(spout.key, spout.value);
        } catch (IOException e) {
          if (!catches) {
            throw e;
          }
        }
      }
      context.getCounter(Flooded.MAPPED_RECORDS).increment(records);
      context.getCounter(Flooded.MAPPED_HASH).increment(hash);
    }
  }

  /** Combiner that passes records on. */
  public static final class Passing extends Reducer<Text, BytesWritable, Text, BytesWritable> {
    private boolean fails;

    @Override
    protected void setup(Context context) {
      fails = context.getConfiguration().getBoolean(FAIL_COMBINE, false);
    }

    @Override
    protected void reduce(Text key, Iterable<BytesWritable> values, Context context) throws IOException, InterruptedException {
      if (fails) {
        throw new IOException("a combiner fails, as configured");
      }
      for (BytesWritable value : values) {
        context.write(key, value);
      }
    }
  }

  public static final class Checking extends Reducer<Text, BytesWritable, NullWritable, NullWritable> {
    private final Text last = new Text();
    private boolean fails;
    private long records;
    private long hash;

    @Override
    protected void setup(Context context) {
      fails = context.getConfiguration().getInt(FAIL_REDUCE, -1) == context.getTaskAttemptID().getTaskID().getId();
    }

    @Override
    protected void reduce(Text key, Iterable<BytesWritable> values, Context context) throws IOException {
      if (records > 0 && last.compareTo(key) >= 0) {
        throw new IOException("the key " + key + " comes after " + last);
      }
      last.set(key);
      for (BytesWritable value : values) {
        hash += hash(key, value);
        records++;
      }
      if (fails && records > 100) {
        throw new IOException("a reduce task fails half-way, as configured");
      }
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(Flooded.REDUCED_RECORDS).increment(records);
      context.getCounter(Flooded.REDUCED_HASH).increment(hash);
    }
  }

  private static long hash(Text key, BytesWritable value) {
    long both = key.hashCode() * 31L + Arrays.hashCode(value.copyBytes());
    // Multiplied, so that swapped halves of two records change the sum.
    both *= 0x9E3779B97F4A7C15L;
    return both ^ both >>> 32;
  }

  /** Returns the job for a configuration. */
  static Job job(Configuration conf) throws IOException {
    Job job = Job.getInstance(conf, "flood");
    job.setJarByClass(Flood.class);
    job.setInputFormatClass(Springs.class);
    job.setMapperClass(Drawing.class);
    job.setReducerClass(Checking.class);
    if (conf.getBoolean(COMBINE, false)) {
      job.setCombinerClass(Passing.class);
    }
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }

  /** Returns true if every record arrived once. */
  static boolean arrived(Job job) throws IOException {
    Counters counters = job.getCounters();
    long records = value(counters, Flooded.MAPPED_RECORDS);
    long hash = value(counters, Flooded.MAPPED_HASH);
    Configuration conf = job.getConfiguration();
    long all = conf.getInt(MAPS, 2) * conf.getLong(RECORDS, 1000);
    if (records != all) {
      // If a map output is lost after the reduces are done with it, Hadoop discards the map's counters.
      records = all;
      hash = 0;
      for (int map = 0; map < conf.getInt(MAPS, 2); map++) {
        Spout spout = new Spout(conf, map);
        for (long i = 0; i < conf.getLong(RECORDS, 1000); i++) {
          hash += spout.draw();
        }
      }
    }
    return records == value(counters, Flooded.REDUCED_RECORDS) && hash == value(counters, Flooded.REDUCED_HASH);
  }

  private static long value(Counters counters, Flooded counter) {
    return counters.findCounter(counter).getValue();
  }

  @Override
  public int run(String[] none) throws Exception {
    Job job = job(getConf());
    if (!job.waitForCompletion(true)) {
      return 1;
    }
    return arrived(job) ? 0 : 3;
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Flood(), arguments));
  }
}
