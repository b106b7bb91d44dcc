package org.yunti.hadoop.conformance.cases.api;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Partitioner;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SequenceFileInputFormat;
import org.apache.hadoop.mapred.lib.ChainMapper;
import org.apache.hadoop.mapred.lib.ChainReducer;
import org.apache.hadoop.mapred.lib.IdentityMapper;
import org.apache.hadoop.mapred.lib.IdentityReducer;
import org.apache.hadoop.mapred.lib.InverseMapper;
import org.apache.hadoop.mapred.lib.LongSumReducer;
import org.apache.hadoop.mapred.lib.MultithreadedMapRunner;
import org.apache.hadoop.mapred.lib.TotalOrderPartitioner;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.input.SequenceInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.trace.OldTraceReducer;

/** Cases of the API of Hadoop 1, org.apache.hadoop.mapred, which reaches the collector on another path. */
public final class OldApi {
  private static final Draw<Text> KEYS = (random, record) -> new Text("key" + random.nextInt(100));
  private static final Draw<LongWritable> NUMBERS = (random, record) -> new LongWritable(random.nextInt(1000));

  private OldApi() {}

  /** Change to a job of the old API. */
  @FunctionalInterface
  private interface OldTweak {
    void apply(JobConf job);
  }

  public static List<Case> cases() {
    return List.of(
        old("api/old-identity", job -> { }).onCluster(),
        old("api/old-combiner", job -> job.setCombinerClass(LongSumReducer.class)),
        old("api/old-combiner-counts", job -> job.setCombinerClass(CountingCombiner.class)),
        old("api/old-combiner-many-spills", job -> {
          job.setCombinerClass(LongSumReducer.class);
          job.setReducerClass(LongSumReducer.class);
          job.setOutputValueClass(LongWritable.class);
          job.setFloat("mapreduce.map.sort.spill.percent", 0.005f);
          job.setInt("mapreduce.task.io.sort.mb", 1);
        }).order(Order.EXACT).counterMayDiffer("COMBINE_INPUT_RECORDS", "combined once a spill")
            .counterMayDiffer("COMBINE_OUTPUT_RECORDS", "combined once a spill")
            .counterMayDiffer("REDUCE_INPUT_RECORDS", "combined once a spill"),
        old("api/old-partitioner", job -> job.setPartitionerClass(ByLastDigit.class)),
        old("api/old-grouping", job -> job.setOutputValueGroupingComparator(FirstFour.class)),
        old("api/old-descending", job -> job.setOutputKeyComparatorClass(Backwards.class)),
        old("api/old-key-fields", job -> {
          job.set("mapreduce.map.output.key.field.separator", "y");
          job.setKeyFieldComparatorOptions("-k2nr");
          job.setKeyFieldPartitionerOptions("-k2.1,2.1");
        }),
        old("api/old-multithreaded", job -> job.setMapRunnerClass(MultithreadedMapRunner.class)),
        old("api/old-compressed-names", job -> {
          job.setCompressMapOutput(true);
          job.set("mapred.map.output.compression.codec", "org.apache.hadoop.io.compress.SnappyCodec");
        }),
        old("api/old-map-only", job -> {
          job.setNumReduceTasks(0);
          job.setOutputValueClass(LongWritable.class);
        }).order(Order.EXACT),
        old("api/old-identity-reducer", job -> {
          job.setReducerClass(IdentityReducer.class);
          job.setOutputValueClass(LongWritable.class);
        }),
        old("api/old-chain", job -> {
          JobConf none = new JobConf(false);
          ChainMapper.addMapper(job, SameRecords.class, Text.class, LongWritable.class, Text.class,
              LongWritable.class, true, none);
          ChainMapper.addMapper(job, Inverted.class, Text.class, LongWritable.class, LongWritable.class,
              Text.class, false, none);
          job.setMapOutputKeyClass(LongWritable.class);
          job.setMapOutputValueClass(Text.class);
          ChainReducer.setReducer(job, SameGroups.class, LongWritable.class, Text.class, LongWritable.class,
              Text.class, true, none);
        }),
        old("api/old-total-order", job -> {
          job.setNumReduceTasks(1); // One partition needs no cuts, but the partitioner still reads its file.
          job.setPartitionerClass(TotalOrderPartitioner.class);
          org.apache.hadoop.mapreduce.lib.partition.TotalOrderPartitioner.setPartitionFile(job, new org.apache.hadoop.fs.Path(
              FileInputFormat.getInputPaths(job)[0].getParent(), "cuts"));
        }).input(new SequenceInput<>(Text.class, KEYS, org.apache.hadoop.io.NullWritable.class,
            Draw.always(org.apache.hadoop.io.NullWritable.get()), "cuts-folder", 1, 0))
            .input(trial -> trial.fileSystem().rename(trial.input("cuts-folder/records-0.seq"), trial.input("cuts"))),
        old("api/old-null-output-key", job -> {
          job.setReducerClass(ValuesOnly.class);
          job.setOutputValueClass(LongWritable.class);
        }).order(Order.EXACT));
  }

  private static Case old(String name, OldTweak tweak) {
    return Case.of(name).input(new SequenceInput<>(Text.class, KEYS, LongWritable.class, NUMBERS, "seq", 3, 700))
        .body(trial -> {
          JobConf job = new JobConf(trial.conf());
          job.setInputFormat(SequenceFileInputFormat.class);
          FileInputFormat.addInputPath(job, trial.input("seq"));
          job.setMapperClass(IdentityMapper.class);
          job.setMapOutputKeyClass(Text.class);
          job.setMapOutputValueClass(LongWritable.class);
          job.setReducerClass(OldTraceReducer.class);
          job.setNumReduceTasks(3);
          job.setOutputKeyClass(Text.class);
          job.setOutputValueClass(Text.class);
          FileOutputFormat.setOutputPath(job, trial.output("out"));
          tweak.apply(job);
          trial.submit(job);
        });
  }

  /** Combiner with counters, and with state until close. */
  public static final class CountingCombiner extends MapReduceBase
      implements Reducer<Text, LongWritable, Text, LongWritable> {
    @Override
    public void reduce(Text key, Iterator<LongWritable> values, OutputCollector<Text, LongWritable> out,
        Reporter reporter) throws IOException {
      reporter.incrCounter("combiner", "keys", 1);
      while (values.hasNext()) {
        LongWritable value = values.next();
        if (value.get() % 3 != 0) {
          out.collect(key, value);
        }
      }
    }
  }

  /** Partitioner of the old interface. */
  public static final class ByLastDigit implements Partitioner<Text, LongWritable> {
    @Override
    public void configure(JobConf job) {
      // Takes no parameters.
    }

    @Override
    public int getPartition(Text key, LongWritable value, int partitions) {
      return key.charAt(key.getLength() - 1) % partitions;
    }
  }

  /** Grouping comparator: key1, key10 .. key19 are one group. */
  public static final class FirstFour extends WritableComparator {
    public FirstFour() {
      super(Text.class, true);
    }

    @Override
    public int compare(@SuppressWarnings("rawtypes") WritableComparable a,
        @SuppressWarnings("rawtypes") WritableComparable b) {
      return Integer.compare(((Text) a).charAt(3), ((Text) b).charAt(3));
    }
  }

  /** Descending order of Text. */
  public static final class Backwards extends Text.Comparator {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return super.compare(b, startB, lengthB, a, startA, lengthA);
    }
  }

  /** Reducer that writes sums without their keys. */
  public static final class ValuesOnly extends MapReduceBase
      implements Reducer<Text, LongWritable, Text, LongWritable> {
    @Override
    public void reduce(Text key, Iterator<LongWritable> values, OutputCollector<Text, LongWritable> out,
        Reporter reporter) throws IOException {
      long sum = 0;
      while (values.hasNext()) {
        sum += values.next().get();
      }
      out.collect(null, new LongWritable(sum));
    }
  }

  // The library's own classes with fixed types, which a chain requires.

  /** Mapper that passes records on. */
  public static final class SameRecords extends IdentityMapper<Text, LongWritable> {}

  /** Mapper that swaps key and value. */
  public static final class Inverted extends InverseMapper<Text, LongWritable> {}

  /** Reducer that passes groups on. */
  public static final class SameGroups extends IdentityReducer<LongWritable, Text> {}
}
