package org.yunti.hadoop.conformance.cases.failures;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/** Jobs that must fail with the same exception class and the same message text. */
public final class Failures {
  private static final Draw<Text> KEYS = (random, record) -> new Text("key" + random.nextInt(50));
  private static final Draw<IntWritable> NUMBERS = (random, record) -> new IntWritable(random.nextInt());

  private Failures() {}

  public static List<Case> cases() {
    return List.of(
        failing("failures/mapper-throws", "the mapper has had enough", Throwing.class).onCluster(),
        failing("failures/mapper-error", "an error, not an exception", ThrowingError.class),
        failing("failures/wrong-key-class", "Type mismatch in key from map: expected org.apache.hadoop.io.Text, "
            + "received org.apache.hadoop.io.BytesWritable", WrongKey.class),
        failing("failures/wrong-value-class", "Type mismatch in value from map: expected "
            + "org.apache.hadoop.io.IntWritable, received org.apache.hadoop.io.LongWritable", WrongValue.class),
        failing("failures/key-subclass", "Type mismatch in key from map", SubclassKey.class),
        failing("failures/null-key", "java.lang.NullPointerException", NullKey.class),
        failing("failures/null-value", "java.lang.NullPointerException", NullValue.class),
        failing("failures/partition-too-large", "Illegal partition for key", Mapper.class)
            .tweak(job -> job.setPartitionerClass(TooLarge.class)),
        failing("failures/partition-negative", "(-1)", Mapper.class)
            .tweak(job -> job.setPartitionerClass(Negative.class)),
        failing("failures/partitioner-throws", "no partition for you", Mapper.class)
            .tweak(job -> job.setPartitionerClass(ThrowingPartitioner.class)),
        failing("failures/combiner-throws", "the combiner has had enough", Mapper.class)
            .tweak(job -> job.setCombinerClass(ThrowingReducer.class)),
        failing("failures/combiner-throws-in-spill", "the combiner has had enough", Mapper.class)
            .set("mapreduce.task.io.sort.mb", 1).set("mapreduce.map.sort.spill.percent", "0.005")
            .tweak(job -> job.setCombinerClass(ThrowingReducer.class)),
        failing("failures/combiner-wrong-class", "wrong value class", Mapper.class)
            .tweak(job -> job.setCombinerClass(WrongClassReducer.class)),
        failing("failures/reducer-throws", "the combiner has had enough", Mapper.class)
            .tweak(job -> job.setReducerClass(ThrowingReducer.class)),
        failing("failures/comparator-throws", "incomparable", Mapper.class)
            .tweak(job -> job.setSortComparatorClass(ThrowingComparator.class)),
        Traced.of("failures/value-cannot-be-written", Text.class, KEYS, Unwritable.class,
            (random, record) -> new Unwritable(record)).mustFail("cannot be written"),
        failing("failures/no-such-codec", "no.such.Codec", Mapper.class)
            .set("mapreduce.map.output.compress", true)
            .set("mapreduce.map.output.compress.codec", "no.such.Codec"),
        failing("failures/bad-spill-percent", "Invalid \"mapreduce.map.sort.spill.percent\"", Mapper.class)
            .set("mapreduce.map.sort.spill.percent", "1.5"),
        failing("failures/bad-sort-mb", "Invalid \"mapreduce.task.io.sort.mb\"", Mapper.class)
            .set("mapreduce.task.io.sort.mb", 4096),
        Traced.of("failures/unknown-serialization", Text.class, KEYS, IntWritable.class, NUMBERS)
            .mustFail("").tweak(job -> job.setMapOutputValueClass(StringBuilder.class)));
  }

  private static Case failing(String name, String text, Class<?> mapper) {
    return Traced.of(name, Text.class, KEYS, IntWritable.class, NUMBERS).mustFail(text)
        .tweak(job -> job.setMapperClass(mapper.asSubclass(Mapper.class)));
  }

  /** Mapper that fails in the middle of its input. */
  public static final class Throwing extends Mapper<Text, IntWritable, Text, IntWritable> {
    private int records;

    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      if (records++ == 300) {
        throw new IllegalStateException("the mapper has had enough");
      }
      context.write(key, value);
    }
  }

  /** Mapper that throws an Error, which handlers of Exception do not catch. */
  public static final class ThrowingError extends Mapper<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) {
      throw new AssertionError("an error, not an exception");
    }
  }

  /** Mapper that emits another key class than the job declares. */
  public static final class WrongKey extends Mapper<Text, IntWritable, BytesWritable, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      context.write(new BytesWritable(), value);
    }
  }

  /** Mapper that emits another value class than the job declares. */
  public static final class WrongValue extends Mapper<Text, IntWritable, Text, LongWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      context.write(key, new LongWritable());
    }
  }

  /** Mapper that emits a subclass, which counts as another class. */
  public static final class SubclassKey extends Mapper<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      context.write(new Text(key) {}, value);
    }
  }

  /** Mapper that emits a null key. */
  public static final class NullKey extends Mapper<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      context.write(null, value);
    }
  }

  /** Mapper that emits a null value. */
  public static final class NullValue extends Mapper<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      context.write(key, null);
    }
  }

  /** Partitioner that returns the number of partitions. */
  public static final class TooLarge extends Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return partitions;
    }
  }

  /** Partitioner that returns a negative number, like an unmasked hash. */
  public static final class Negative extends Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return -1;
    }
  }

  /** Partitioner that throws during the collection. */
  public static final class ThrowingPartitioner extends Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      throw new IllegalArgumentException("no partition for you");
    }
  }

  /** Combiner or reducer that throws. */
  public static final class ThrowingReducer extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context) {
      throw new IllegalStateException("the combiner has had enough");
    }
  }

  /** Combiner that writes another value class than the map. */
  public static final class WrongClassReducer extends Reducer<Text, IntWritable, Text, NullWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(key, NullWritable.get());
    }
  }

  /** Comparator that throws during the sort. */
  public static final class ThrowingComparator implements RawComparator<Text> {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      throw new IllegalStateException("incomparable");
    }

    @Override
    public int compare(Text a, Text b) {
      throw new IllegalStateException("incomparable");
    }
  }

  /** Value that throws in the middle of its second serialisation. */
  public static final class Unwritable implements Writable {
    private int number;
    private boolean read;

    public Unwritable() {}

    Unwritable(int number) {
      this.number = number;
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(number);
      if (read && number == 400) {
        throw new IOException("cannot be written");
      }
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      number = in.readInt();
      read = true;
    }
  }
}
