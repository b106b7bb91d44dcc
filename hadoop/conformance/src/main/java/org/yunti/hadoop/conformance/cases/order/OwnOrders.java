package org.yunti.hadoop.conformance.cases.order;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.trace.Traced;

/**
 * Orders that only the job's comparator knows, over map outputs that spill and are merged; and comparators that
 * contradict themselves or throw.
 */
public final class OwnOrders {
  private static final String FREE = "spills are cut and combined as each side chooses";

  private OwnOrders() {}

  public static List<Case> cases() {
    return List.of(
        spilled("own-order/backwards-spills", Backwards.class),
        // Full buffers alone spill, because -Xcheck:jni damages what stock Hadoop collects during a spill through zlib
        // (MapOutputCodecs tells how).
        spilled("own-order/backwards-spills-compressed", Backwards.class).set("mapreduce.map.output.compress", true)
            .set("mapreduce.map.sort.spill.percent", "1.0")
            .set("mapreduce.map.output.compress.codec", DefaultCodec.class.getName()),
        spilled("own-order/objects-spills", Comparators.Backwards.class),
        spilled("own-order/scattered-spills", FromTheEnd.class),
        spilled("own-order/few-classes-spills", Comparators.ByLengthOnly.class),
        spilled("own-order/grouped-spills", FromTheEnd.class)
            .tweak(job -> job.setGroupingComparatorClass(LastDigit.class)),
        spilled("own-order/merges-on-disk", FromTheEnd.class).set("mapreduce.reduce.memory.totalbytes", 1000),
        spilled("own-order/merges-in-memory", FromTheEnd.class)
            .set("mapreduce.reduce.memory.totalbytes", 6_000_000)
            .set("mapreduce.reduce.shuffle.memory.limit.percent", "0.45")
            .set("mapreduce.reduce.shuffle.merge.percent", "0.5"),
        combined("own-order/combined-spills"),
        // Keys that differ in bytes but not in this order are one key for a combiner.
        Traced.of("own-order/combined-classes", Text.class, OwnOrders::word, IntWritable.class, OwnOrders::number)
            .tweak(job -> {
              job.setSortComparatorClass(Caseless.class);
              job.setCombinerClass(Sum.class);
              job.setReducerClass(Sum.class);
              job.setOutputValueClass(IntWritable.class);
              job.setPartitionerClass(ByFirstLetter.class);
            }),
        contradicting("own-order/contradicts-itself", Contradicting.class),
        contradicting("own-order/never-equal", NeverEqual.class),
        throwing("own-order/throws-in-spill", "incomparable after a while", Tiring.class, 60_000),
        throwing("own-order/error-in-sort", "an error of the comparator", Failing.class, 500),
        // Each map has one key, so that only a merge of the reduce compares.
        Traced.of("own-order/throws-in-reduce", Text.class, (random, record) -> new Text("a"), IntWritable.class,
            OwnOrders::number).mustFail("merged keys").tweak(job -> job.setSortComparatorClass(ThrowsForEqual.class)));
  }

  private static Case spilled(String name, Class<?> comparator) {
    Case traced = Traced.of(name, Text.class, OwnOrders::key, IntWritable.class, OwnOrders::number, 2, 120_000);
    return Traced.digested(traced)
        .set("mapreduce.task.io.sort.mb", 1)
        .set("mapreduce.input.fileinputformat.split.minsize", 1 << 30)
        .mustSpill()
        .tweak(job -> job.setSortComparatorClass(comparator.asSubclass(RawComparator.class)));
  }

  private static Case combined(String name) {
    return Traced.of(name, Text.class, OwnOrders::key, IntWritable.class, OwnOrders::number, 2, 120_000)
        .order(Order.EXACT)
        .set("mapreduce.task.io.sort.mb", 1)
        .set("mapreduce.input.fileinputformat.split.minsize", 1 << 30)
        .counterMayDiffer("COMBINE_INPUT_RECORDS", FREE)
        .counterMayDiffer("COMBINE_OUTPUT_RECORDS", FREE)
        .counterMayDiffer("REDUCE_INPUT_RECORDS", FREE)
        .tweak(job -> {
          job.setSortComparatorClass(FromTheEnd.class);
          job.setCombinerClass(IntSumReducer.class);
          job.setReducerClass(IntSumReducer.class);
          job.setOutputValueClass(IntWritable.class);
        });
  }

  /** Returns a job whose order is undefined, so that its groups are too: only the records must be complete. */
  private static Case contradicting(String name, Class<?> comparator) {
    return Traced.of(name, Text.class, OwnOrders::key, IntWritable.class, OwnOrders::number, 2, 120_000)
        .order(Order.RECORDS_FREE)
        .set("mapreduce.task.io.sort.mb", 1)
        .set("mapreduce.input.fileinputformat.split.minsize", 1 << 30)
        .counterMayDiffer("REDUCE_INPUT_GROUPS", "the order is undefined, and so are groups of neighbours")
        .tweak(job -> {
          job.setSortComparatorClass(comparator.asSubclass(RawComparator.class));
          job.setReducerClass(Records.class);
          job.setOutputValueClass(IntWritable.class);
        });
  }

  private static Case throwing(String name, String text, Class<?> comparator, int records) {
    return Traced.of(name, Text.class, OwnOrders::key, IntWritable.class, OwnOrders::number, 1, records)
        .mustFail(text)
        .set("mapreduce.task.io.sort.mb", 1)
        .set("mapreduce.input.fileinputformat.split.minsize", 1 << 30)
        .tweak(job -> job.setSortComparatorClass(comparator.asSubclass(RawComparator.class)));
  }

  private static Text key(Random random, int record) {
    // A few keys are frequent, and most are rare.
    return new Text("key" + (int) Math.pow(1e6, random.nextDouble()) + "/" + random.nextInt(3));
  }

  private static Text word(Random random, int record) {
    return new Text("" + "aAbB".charAt(random.nextInt(4)) + "xX".charAt(random.nextInt(2)));
  }

  private static IntWritable number(Random random, int record) {
    return new IntWritable(random.nextInt(2001) - 1000);
  }

  /** Comparator of serialised bytes alone. */
  public abstract static class Raw implements RawComparator<Text> {
    @Override
    public final int compare(Text a, Text b) {
      throw new UnsupportedOperationException("the sort has bytes");
    }
  }

  /** Descending order of the bytes, without a decoded object. */
  public static final class Backwards extends Raw {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return WritableComparator.compareBytes(b, startB, lengthB, a, startA, lengthA);
    }
  }

  /** Order of the bytes from the last to the first, which is far from their order. */
  public static final class FromTheEnd extends Raw {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      for (int i = 1; i <= Math.min(lengthA, lengthB); i++) {
        int order = Byte.compare(a[startA + lengthA - i], b[startB + lengthB - i]);
        if (order != 0) {
          return order;
        }
      }
      return Integer.compare(lengthA, lengthB);
    }
  }

  /** Grouping comparator by the last digit. */
  public static final class LastDigit extends Raw {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return Byte.compare(a[startA + lengthA - 1], b[startB + lengthB - 1]);
    }
  }

  /** Order of strings that ignores their case. */
  public static final class Caseless extends WritableComparator {
    public Caseless() {
      super(Text.class, true);
    }

    @Override
    public int compare(@SuppressWarnings("rawtypes") WritableComparable a,
        @SuppressWarnings("rawtypes") WritableComparable b) {
      return a.toString().compareToIgnoreCase(b.toString());
    }
  }

  /** Partitioner by the first letter, in either case. */
  public static final class ByFirstLetter extends org.apache.hadoop.mapreduce.Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return Character.toLowerCase(key.charAt(0)) % partitions;
    }
  }

  /** Sum under a name without case, because any key of a class may come first. */
  public static final class Sum extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      int sum = 0;
      for (IntWritable value : values) {
        sum += value.get();
      }
      context.write(new Text(key.toString().toLowerCase(java.util.Locale.ROOT)), new IntWritable(sum));
    }
  }

  /** Reducer that writes each record under its own key. */
  public static final class Records extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      for (IntWritable value : values) {
        context.write(key, value);
      }
    }
  }

  /** Comparator without an order: the sign is a hash of both keys. */
  public static final class Contradicting extends Raw {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      int hash = WritableComparator.hashBytes(a, startA, lengthA) * 31
          + WritableComparator.hashBytes(b, startB, lengthB);
      return (hash >>> 13) % 3 - 1;
    }
  }

  /** Comparator for which no key equals itself. */
  public static final class NeverEqual extends Raw {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return WritableComparator.compareBytes(a, startA, lengthA, b, startB, lengthB) < 0 ? -1 : 1;
    }
  }

  /** Comparator that throws after many comparisons. */
  public static final class Tiring extends Raw {
    private int comparisons;

    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      if (++comparisons > 20_000) {
        throw new IllegalStateException("incomparable after a while");
      }
      return WritableComparator.compareBytes(b, startB, lengthB, a, startA, lengthA);
    }
  }

  /** Comparator that throws an Error, which handlers of Exception do not catch. */
  public static final class Failing extends Raw {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      throw new AssertionError("an error of the comparator");
    }
  }

  /** Comparator that throws for equal keys of two arrays: not in a sort, which has one. */
  public static final class ThrowsForEqual extends Raw {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      if (a != b) {
        throw new IllegalStateException("merged keys");
      }
      return 0;
    }
  }
}
