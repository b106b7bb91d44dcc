package org.yunti.hadoop.conformance.cases.tasks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.input.TextInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.NativeJob;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.suite.Twin;

/** User-defined classes; each one here has a C++ twin in src/main/native/classes.cpp. */
public final class Libraries {
  private static final TextInput KEY_NUMBERS = new TextInput(
      (random, line) -> "key" + random.nextInt(200) + "\t" + (random.nextInt(2001) - 1000), "text", 3, 1500);
  private static final TextInput NUMBERED = new TextInput((random, line) -> "line " + line, "text", 2, 100);

  private Libraries() {}

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    numbers(cases, "int", Ints.class, IntWritable.class, Draw.edges(List.of("-2147483648", "2147483647", "0", "-1"),
        (random, line) -> Integer.toString(random.nextInt())));
    numbers(cases, "long", Longs.class, LongWritable.class, Draw.edges(
        List.of("-9223372036854775808", "9223372036854775807", "0", "-1", "4294967296"),
        (random, line) -> Long.toString(random.nextLong() >> random.nextInt(60))));
    numbers(cases, "float", Floats.class, FloatWritable.class, Draw.edges(List.of("0.0", "1e-45", "-3.4028235e38", "-1"),
        (random, line) -> Float.toString((float) random.nextGaussian())));
    numbers(cases, "double", Doubles.class, DoubleWritable.class, Draw.edges(List.of("0.0", "4.9e-324", "-1.7e308", "-1"),
        (random, line) -> Double.toString(random.nextGaussian() * 1e9)));
    cases.add(summed("sum", "reducer = \"Conformance.Sum\"").input(KEY_NUMBERS));
    cases.add(summed("sum-combined", "reducer = \"Conformance.Sum\"", "combiner = \"Conformance.SumCombiner\"").input(KEY_NUMBERS)
        .tweak(job -> job.setCombinerClass(LongSumReducer.class)).onCluster());
    cases.add(Twin.combinedInSpills(summed("sum-combined-in-spills", "reducer = \"Conformance.Sum\"", "combiner = \"Conformance.SumCombiner\"")
        .input(new TextInput((random, line) -> "a key of this job, number " + random.nextInt(90_000) + "\t" + random.nextInt(99), "text", 1, 120_000))
        .tweak(job -> job.setCombinerClass(LongSumReducer.class))));
    cases.add(summed("sum-of-own-partitions", "reducer = \"Conformance.Sum\"", "partitioner = \"Conformance.ByLength\"").input(KEY_NUMBERS)
        .tweak(job -> job.setPartitionerClass(ByLength.class)));
    cases.add(summed("sum-descending", "reducer = \"Conformance.Sum\"", "descending = true").input(KEY_NUMBERS)
        .tweak(job -> job.setSortComparatorClass(Sorts.Descending.class)));
    cases.add(summed("other-type-out", "reducer = \"Conformance.Spread\"").input(KEY_NUMBERS).tweak(job -> {
      job.setReducerClass(Spread.class);
      job.setOutputValueClass(Text.class);
    }));
    cases.add(Twin.ofLibrary("library/secondary-sort", "text", 3, job -> {
      job.setMapperClass(KeyWithNumber.class);
      job.setPartitionerClass(ByFirstLength.class);
      job.setSortComparatorClass(ByBoth.class);
      job.setGroupingComparatorClass(ByFirst.class);
      job.setReducerClass(Listed.class);
      job.setMapOutputValueClass(LongWritable.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
    }, NativeJob.of("mapper = \"Conformance.KeyNumber\"", "key-order = \"Conformance.ByBoth\"",
        "partitioner = \"Conformance.ByLength\"", "reducer = \"Conformance.Listed\"")).input(KEY_NUMBERS).order(Order.EXACT)
        .counterMayDiffer("MAP_OUTPUT_BYTES", "Java's composite keys are text")
        .counterMayDiffer("MAP_OUTPUT_MATERIALIZED_BYTES", "as above").onCluster());
    cases.add(summed("folder", "folder = \"Conformance.Range\"").input(KEY_NUMBERS).tweak(job -> job.setReducerClass(Range.class))
        .counterMayDiffer("COMBINE_INPUT_RECORDS", "a folder combines; its Java twin cannot, because a range of ranges is no range")
        .counterMayDiffer("COMBINE_OUTPUT_RECORDS", "as above").counterMayDiffer("REDUCE_INPUT_RECORDS", "as above"));
    cases.add(summed("skew", "reducer = \"Conformance.Sum\"").input(
        new TextInput((random, line) -> "hot\t" + random.nextInt(9), "text", 3, 20_000)));
    cases.add(Twin.ofLibrary("library/several-records", "text", 3, job -> {
      job.setMapperClass(Several.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
    }, NativeJob.of("mapper = \"Conformance.Several\""))
        .input(TextInput.words(2, 300)));
    for (int reduces : new int[] {2, 0}) {
      cases.add(Twin.ofLibrary(reduces == 0 ? "library/maps-alone" : "library/counters-settings-flush", "text", reduces, job -> {
        job.setMapperClass(Filter.class);
        job.setReducerClass(Reducer.class);
        job.setOutputKeyClass(Text.class);
        job.setOutputValueClass(LongWritable.class);
      }, NativeJob.of("mapper = \"Conformance.Filter\"", "settings = { \"conformance.word\" = \"word7\" }"))
          .set("conformance.word", "word7").input(TextInput.words(2, 300)).order(reduces == 0 ? Order.EXACT : Order.VALUES_FREE));
    }
    cases.add(Twin.ofLibrary("library/mapper-throws", "text", 2, job -> {
      job.setMapperClass(Failing.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(LongWritable.class);
    }, NativeJob.of("mapper = \"Conformance.Failing\"", "reducer = \"Conformance.Sum\"")).input(NUMBERED)
        .mustFail("the mapper has had enough").onCluster());
    cases.add(summed("reducer-throws", "reducer = \"Conformance.FailingReducer\"").input(KEY_NUMBERS)
        .tweak(job -> job.setReducerClass(FailingReducer.class)).mustFail("the reducer has had enough"));
    return cases;
  }

  /** Adds cases with keys of this class, sorted and partitioned as numbers. */
  private static void numbers(List<Case> cases, String name, Class<? extends Numbers<?>> mapper,
      @SuppressWarnings("rawtypes") Class<? extends WritableComparable> keyClass, Draw<String> numbers) {
    String nativeMapper = "mapper = \"Conformance." + Character.toUpperCase(name.charAt(0)) + name.substring(1) + "\"";
    TextInput input = new TextInput((random, line) -> numbers.draw(random, line) + "\tvalue" + line, "text", 2, 700);
    for (boolean descending : new boolean[] {false, true}) {
      Case sorted = Twin.ofLibrary("library/" + name + (descending ? "-keys-descending" : "-keys"), "text", 3, job -> {
        job.setMapperClass(mapper);
        job.setReducerClass(Reducer.class);
        job.setOutputKeyClass(keyClass);
        job.setOutputValueClass(Text.class);
        job.setOutputFormatClass(SequenceFileOutputFormat.class);
      }, NativeJob.of(nativeMapper, "descending = " + descending).writer(SequenceFileOutputFormat.class).outputs(keyClass, Text.class)).input(input);
      cases.add(descending ? sorted.tweak(job -> job.setSortComparatorClass(Falling.class)) : sorted);
    }
    if (keyClass == IntWritable.class || keyClass == LongWritable.class) {
      // As text, for integers only: each language prints fractions in its own shortest form.
      cases.add(Twin.ofLibrary("library/" + name + "-keys-printed", "text", 3, job -> {
        job.setMapperClass(mapper);
        job.setReducerClass(Reducer.class);
        job.setOutputKeyClass(keyClass);
        job.setOutputValueClass(Text.class);
      }, NativeJob.of(nativeMapper)).input(input));
    }
  }

  private static Case summed(String name, String... lines) {
    NativeJob nativeJob = NativeJob.of("mapper = \"Conformance.KeyNumber\"");
    for (String line : lines) {
      nativeJob = nativeJob.with(line);
    }
    return Twin.ofLibrary("library/" + name, "text", 3, job -> {
      job.setMapperClass(KeyNumber.class);
      job.setReducerClass(LongSumReducer.class);
      job.setMapOutputValueClass(LongWritable.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(LongWritable.class);
    }, nativeJob).order(Order.EXACT);
  }

  /** Mapper of lines {@code number TAB text}. */
  public abstract static class Numbers<K> extends Mapper<LongWritable, Text, K, Text> {
    abstract K number(String text);

    @Override
    protected void map(LongWritable position, Text line, Context context) throws IOException, InterruptedException {
      String[] parts = line.toString().split("\t", 2);
      context.write(number(parts[0]), new Text(parts[1]));
    }
  }

  /** Mapper with int keys. */
  public static final class Ints extends Numbers<IntWritable> {
    @Override
    IntWritable number(String text) {
      return new IntWritable(Integer.parseInt(text));
    }
  }

  /** Mapper with long keys. */
  public static final class Longs extends Numbers<LongWritable> {
    @Override
    LongWritable number(String text) {
      return new LongWritable(Long.parseLong(text));
    }
  }

  /** Mapper with float keys. */
  public static final class Floats extends Numbers<FloatWritable> {
    @Override
    FloatWritable number(String text) {
      return new FloatWritable(Float.parseFloat(text));
    }
  }

  /** Mapper with double keys. */
  public static final class Doubles extends Numbers<DoubleWritable> {
    @Override
    DoubleWritable number(String text) {
      return new DoubleWritable(Double.parseDouble(text));
    }
  }

  /** Descending order of numbers of any class. */
  public static final class Falling extends org.apache.hadoop.io.WritableComparator
      implements org.apache.hadoop.conf.Configurable {
    private org.apache.hadoop.io.WritableComparator rising;
    private org.apache.hadoop.conf.Configuration conf;

    @Override
    public void setConf(org.apache.hadoop.conf.Configuration newConf) {
      conf = newConf;
      rising = org.apache.hadoop.io.WritableComparator.get(
          new org.apache.hadoop.mapred.JobConf(conf).getMapOutputKeyClass().asSubclass(WritableComparable.class));
    }

    @Override
    public org.apache.hadoop.conf.Configuration getConf() {
      return conf;
    }

    @Override
    public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
      return rising.compare(b, bStart, bLength, a, aStart, aLength);
    }

    @Override
    @SuppressWarnings({"rawtypes", "unchecked"})
    public int compare(WritableComparable a, WritableComparable b) {
      return b.compareTo(a);
    }
  }

  /** Mapper of lines {@code key TAB number}. */
  public static final class KeyNumber extends Mapper<LongWritable, Text, Text, LongWritable> {
    @Override
    protected void map(LongWritable position, Text line, Context context) throws IOException, InterruptedException {
      String[] parts = line.toString().split("\t", 2);
      context.write(new Text(parts[0]), new LongWritable(Long.parseLong(parts[1])));
    }
  }

  /** Mapper that writes none, one or several records per line. */
  public static final class Several extends Mapper<LongWritable, Text, Text, Text> {
    @Override
    protected void map(LongWritable position, Text line, Context context) throws IOException, InterruptedException {
      String text = line.toString();
      for (int n = text.length() % 4; n > 0; n--) {
        context.write(new Text(text.substring(0, n - 1)), new Text(text.substring(n)));
      }
    }
  }

  /** Mapper that drops lines with the job's word, and counts them. */
  public static final class Filter extends Mapper<LongWritable, Text, Text, LongWritable> {
    private long passed;

    @Override
    protected void map(LongWritable position, Text line, Context context) throws IOException, InterruptedException {
      if (line.toString().contains(context.getConfiguration().get("conformance.word"))) {
        context.getCounter("conformance", "dropped").increment(1);
        return;
      }
      passed++;
      context.write(line, new LongWritable(line.getLength()));
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      context.write(new Text(), new LongWritable(passed));
    }
  }

  /** Mapper that fails in the middle of its input. */
  public static final class Failing extends Mapper<LongWritable, Text, Text, LongWritable> {
    @Override
    protected void map(LongWritable position, Text line, Context context) throws IOException, InterruptedException {
      if (line.toString().equals("line 77")) {
        throw new IOException("the mapper has had enough");
      }
      context.write(line, new LongWritable(1));
    }
  }

  /** Partitioner by the length of the key. */
  public static final class ByLength extends Partitioner<Text, LongWritable> {
    @Override
    public int getPartition(Text key, LongWritable value, int partitions) {
      return key.getLength() % partitions;
    }
  }

  /** Mapper of lines {@code key TAB number} that puts the number into the key too. */
  public static final class KeyWithNumber extends Mapper<LongWritable, Text, Text, LongWritable> {
    @Override
    protected void map(LongWritable position, Text line, Context context) throws IOException, InterruptedException {
      context.write(line, new LongWritable(Long.parseLong(line.toString().split("\t", 2)[1])));
    }
  }

  /** Comparator of the text before the tab. */
  public static class ByFirst extends WritableComparator {
    public ByFirst() {
      super(Text.class, true);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable a, WritableComparable b) {
      return a.toString().split("\t", 2)[0].compareTo(b.toString().split("\t", 2)[0]);
    }
  }

  /** Comparator of the text before the tab, then of the number after it, largest first. */
  public static final class ByBoth extends ByFirst {
    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable a, WritableComparable b) {
      int first = super.compare(a, b);
      return first != 0 ? first : Long.compare(number(b), number(a));
    }

    private static long number(Object key) {
      return Long.parseLong(key.toString().split("\t", 2)[1]);
    }
  }

  /** Partitioner by the length of the text before the tab. */
  public static final class ByFirstLength extends Partitioner<Text, LongWritable> {
    @Override
    public int getPartition(Text key, LongWritable value, int partitions) {
      return key.find("\t") % partitions;
    }
  }

  /** Reducer that lists all values in their order. */
  public static final class Listed extends Reducer<Text, LongWritable, Text, Text> {
    @Override
    protected void reduce(Text key, Iterable<LongWritable> values, Context context) throws IOException, InterruptedException {
      StringBuilder all = new StringBuilder();
      for (LongWritable value : values) {
        all.append(value.get()).append(' ');
      }
      context.write(new Text(key.toString().split("\t", 2)[0]), new Text(all.toString()));
    }
  }

  /** Reducer that writes least value, largest value and count of keys with several values. */
  public static final class Spread extends Reducer<Text, LongWritable, Text, Text> {
    @Override
    protected void reduce(Text key, Iterable<LongWritable> values, Context context) throws IOException, InterruptedException {
      long least = Long.MAX_VALUE;
      long most = Long.MIN_VALUE;
      int n = 0;
      for (LongWritable value : values) {
        least = Math.min(least, value.get());
        most = Math.max(most, value.get());
        n++;
      }
      if (n > 1) {
        context.write(key, new Text(least + ".." + most + " of " + n));
      }
    }
  }

  /** Reducer that writes the difference between the largest and the least value. */
  public static final class Range extends Reducer<Text, LongWritable, Text, LongWritable> {
    @Override
    protected void reduce(Text key, Iterable<LongWritable> values, Context context) throws IOException, InterruptedException {
      long least = Long.MAX_VALUE;
      long most = Long.MIN_VALUE;
      for (LongWritable value : values) {
        least = Math.min(least, value.get());
        most = Math.max(most, value.get());
      }
      context.write(key, new LongWritable(most - least));
    }
  }

  /** Reducer that fails at one key. */
  public static final class FailingReducer extends Reducer<Text, LongWritable, Text, LongWritable> {
    @Override
    protected void reduce(Text key, Iterable<LongWritable> values, Context context) throws IOException {
      if (key.toString().equals("key7")) {
        throw new IOException("the reducer has had enough");
      }
    }
  }
}
