package org.yunti.hadoop.conformance.cases.combine;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.trace.Traced;

/**
 * Combiners of the new API. With one spill per map, a combiner is called once for every key, so its output is compared
 * record by record. With several spills, the framework decides the number of calls. The combiner then must not change
 * the job's result, and only the result is compared.
 */
public final class Combiners {
  private static final String FREE =
      "spills are cut by the speed of the spill thread, and combined once each and perhaps again in merges";

  private Combiners() {}

  public static List<Case> cases() {
    return List.of(
        oneSpill("combine/int-sum", IntSumReducer.class).onCluster(),
        Traced.of("combine/long-sum", LongWritable.class,
            (random, record) -> new LongWritable(random.nextInt(30) - 15), LongWritable.class,
            (random, record) -> new LongWritable(random.nextLong()))
            .tweak(job -> job.setCombinerClass(LongSumReducer.class)),
        oneSpill("combine/drops-records", DropsNegatives.class),
        oneSpill("combine/drops-everything", DropsAll.class),
        oneSpill("combine/several-records", Twins.class),
        oneSpill("combine/first-value-only", OneOfMany.class)
            .counterMayDiffer("COMBINE_INPUT_RECORDS", "values that the combiner does not read need not be counted"),
        oneSpill("combine/own-counters", Counting.class),
        oneSpill("combine/state-and-cleanup", Buffering.class),
        oneSpill("combine/grouping-comparator", FirstKeyOfGroup.class)
            .tweak(job -> job.setCombinerKeyGroupingComparatorClass(FirstLetter.class)),
        oneSpill("combine/gzip", IntSumReducer.class).mapOutput("Gzip"),
        manySpills("combine/many-spills", IntSumReducer.class, 10, 3),
        manySpills("combine/many-spills-factor-2", IntSumReducer.class, 2, 3),
        manySpills("combine/min-spills-1", IntSumReducer.class, 10, 1),
        manySpills("combine/min-spills-never", IntSumReducer.class, 10, 1_000_000),
        manySpills("combine/drops-records-many-spills", DropsNegatives.class, 10, 3),
        manySpills("combine/reduce-merges-on-disk", IntSumReducer.class, 2, 3)
            .set("mapreduce.reduce.memory.totalbytes", 1000),
        manySpills("combine/reduce-merges-in-memory", IntSumReducer.class, 10, 3)
            // Room for two map outputs, so that the reduce side merges and combines during the copy.
            .set("mapreduce.reduce.memory.totalbytes", 60_000)
            .set("mapreduce.reduce.shuffle.memory.limit.percent", "0.45")
            .set("mapreduce.reduce.shuffle.merge.percent", "0.5"));
  }

  private static Case oneSpill(String name, Class<?> combiner) {
    Draw<Text> keys = (random, record) -> new Text("ab".substring(random.nextInt(2)) + random.nextInt(30));
    Draw<IntWritable> values = (random, record) -> new IntWritable(random.nextInt(2001) - 1000);
    return Traced.of(name, Text.class, keys, IntWritable.class, values)
        .tweak(job -> job.setCombinerClass(combiner.asSubclass(Reducer.class)));
  }

  private static Case manySpills(String name, Class<?> combiner, int factor, int minSpills) {
    Draw<Text> keys = (random, record) -> new Text("key" + (int) Math.pow(3000, random.nextDouble()));
    Draw<IntWritable> values = (random, record) -> new IntWritable(random.nextInt(2001) - 1000);
    return Traced.of(name, Text.class, keys, IntWritable.class, values, 3, 4000)
        .order(Order.EXACT)
        .set("mapreduce.task.io.sort.mb", 1)
        .set("mapreduce.map.sort.spill.percent", "0.02")
        .set("mapreduce.task.io.sort.factor", factor)
        .set("mapreduce.map.combine.minspills", minSpills)
        .counterMayDiffer("COMBINE_INPUT_RECORDS", FREE)
        .counterMayDiffer("COMBINE_OUTPUT_RECORDS", FREE)
        .counterMayDiffer("REDUCE_INPUT_RECORDS", FREE)
        .tweak(job -> {
          job.setCombinerClass(combiner.asSubclass(Reducer.class));
          // The reduce gives the same result from combined values as from all values.
          job.setReducerClass(combiner == DropsNegatives.class ? PositiveSum.class : IntSumReducer.class);
          job.setOutputValueClass(IntWritable.class);
        });
  }

  /** Combiner that drops negative values. */
  public static final class DropsNegatives extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      for (IntWritable value : values) {
        if (value.get() >= 0) {
          context.write(key, value);
        }
      }
    }
  }

  /** Reduce for {@link DropsNegatives}. A key without remaining values has no record, combined or not. */
  public static final class PositiveSum extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      int sum = 0;
      boolean any = false;
      for (IntWritable value : values) {
        any |= value.get() >= 0;
        sum += Math.max(value.get(), 0);
      }
      if (any) {
        context.write(key, new IntWritable(sum));
      }
    }
  }

  /** Combiner that drops all records. */
  public static final class DropsAll extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context) {
      // Writes nothing.
    }
  }

  /** Combiner that writes more records than it reads, with changed values. */
  public static final class Twins extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      for (IntWritable value : values) {
        context.write(key, new IntWritable(value.get() * 2));
        context.write(key, new IntWritable(value.get() * 2 + 1));
      }
    }
  }

  /** Combiner that stops after the first value. */
  public static final class OneOfMany extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      values.iterator().next();
      // The order of the values is undefined, so the value is not written.
      context.write(key, new IntWritable(1));
    }
  }

  /** Combiner with counters of its own, by enum and by name. */
  public static final class Counting extends Reducer<Text, IntWritable, Text, IntWritable> {
    enum Reads { KEYS, VALUES }

    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      context.getCounter(Reads.KEYS).increment(1);
      context.getCounter("first letters", key.toString().substring(0, 1)).increment(1);
      for (IntWritable value : values) {
        context.getCounter(Reads.VALUES).increment(1);
        context.write(key, value);
      }
    }
  }

  /** Combiner that writes only in its cleanup, in the order of its input keys. */
  public static final class Buffering extends Reducer<Text, IntWritable, Text, IntWritable> {
    private final Map<Text, Integer> sums = new TreeMap<>();

    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context) {
      int sum = 0;
      for (IntWritable value : values) {
        sum += value.get();
      }
      sums.put(new Text(key), sum);
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      for (Map.Entry<Text, Integer> sum : sums.entrySet()) {
        context.write(sum.getKey(), new IntWritable(sum.getValue()));
      }
    }
  }

  /** Combiner that writes one record per group, under the group's first key. */
  public static final class FirstKeyOfGroup extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      Text first = new Text(key);
      int sum = 0;
      for (IntWritable value : values) {
        sum += value.get();
      }
      context.write(first, new IntWritable(sum));
    }
  }

  /** Grouping comparator: keys with the same first letter are one group. */
  public static final class FirstLetter extends WritableComparator {
    public FirstLetter() {
      super(Text.class, true);
    }

    @Override
    public int compare(@SuppressWarnings("rawtypes") WritableComparable a,
        @SuppressWarnings("rawtypes") WritableComparable b) {
      return Integer.compare(((Text) a).charAt(0), ((Text) b).charAt(0));
    }
  }
}
