package org.yunti.hadoop.conformance.cases.api;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.chain.ChainMapper;
import org.apache.hadoop.mapreduce.lib.chain.ChainReducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.map.InverseMapper;
import org.apache.hadoop.mapreduce.lib.map.MultithreadedMapper;
import org.apache.hadoop.mapreduce.lib.map.RegexMapper;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.LazyOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.MultipleOutputs;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.input.SequenceInput;
import org.yunti.hadoop.conformance.input.TextInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.trace.Traced;

/** Cases of the new API: mappers, reducers, inputs and outputs. */
public final class NewApi {
  private static final Draw<Text> KEYS = (random, record) -> new Text("key" + random.nextInt(100));
  private static final Draw<IntWritable> NUMBERS = (random, record) -> new IntWritable(random.nextInt(1000));

  private NewApi() {}

  public static List<Case> cases() {
    return List.of(
        traced("api/object-reuse").tweak(job -> job.setMapperClass(Reusing.class)),
        traced("api/output-in-cleanup").tweak(job -> job.setMapperClass(WritesLate.class)),
        traced("api/counters-and-status").tweak(job -> {
          job.setMapperClass(Talking.class);
          job.setReducerClass(TalkingReducer.class);
          job.setOutputValueClass(IntWritable.class);
        }).order(Order.EXACT),
        traced("api/reduce-reads-few-values").tweak(job -> {
          job.setReducerClass(Impatient.class);
          job.setOutputValueClass(IntWritable.class);
        }).order(Order.EXACT),
        traced("api/reduce-reads-no-values").tweak(job -> {
          job.setReducerClass(Uninterested.class);
          job.setOutputValueClass(IntWritable.class);
        }).order(Order.EXACT),
        traced("api/multithreaded-mapper").tweak(job -> {
          job.setMapperClass(MultithreadedMapper.class);
          MultithreadedMapper.setMapperClass(job, Reusing.class);
          MultithreadedMapper.setNumberOfThreads(job, 4);
        }),
        // Hadoop takes the key class of the job's output as the key class of the map's output too.
        traced("api/classes-by-default").tweak(job -> {
          job.getConfiguration().unset("mapreduce.map.output.key.class");
          job.getConfiguration().unset("mapreduce.map.output.value.class");
          job.setOutputValueClass(IntWritable.class);
          job.setReducerClass(IntSumReducer.class);
        }).order(Order.EXACT),
        traced("api/default-everything").tweak(job -> {
          job.getConfiguration().unset("mapreduce.job.map.class");
          job.getConfiguration().unset("mapreduce.job.reduce.class");
          job.setOutputValueClass(IntWritable.class);
        }),
        traced("api/compressed-text-output").order(Order.EXACT).tweak(job -> {
          // One line per key, because the size of a compressed file depends on the order of its lines.
          job.setReducerClass(IntSumReducer.class);
          job.setOutputValueClass(IntWritable.class);
          FileOutputFormat.setCompressOutput(job, true);
          FileOutputFormat.setOutputCompressorClass(job, GzipCodec.class);
        }),
        traced("api/sequence-file-output").tweak(job -> job.setOutputFormatClass(SequenceFileOutputFormat.class)),
        traced("api/lazy-output").tweak(job -> {
          job.setNumReduceTasks(5);
          job.setPartitionerClass(AllToThird.class);
          LazyOutputFormat.setOutputFormatClass(job, TextOutputFormat.class);
        }),
        traced("api/multiple-outputs").order(Order.EXACT).tweak(job -> {
          job.setReducerClass(Splitting.class);
          job.setOutputValueClass(IntWritable.class);
          MultipleOutputs.addNamedOutput(job, "even", TextOutputFormat.class, Text.class, IntWritable.class);
          MultipleOutputs.setCountersEnabled(job, true);
        }),
        multipleInputs(),
        chain(),
        twoJobs(),
        words("api/token-counter", TextInputFormat.class).tweak(job -> {
          job.setMapperClass(TokenCounterMapper.class);
          job.setCombinerClass(IntSumReducer.class);
          job.setReducerClass(IntSumReducer.class);
        }).onCluster(),
        words("api/regex-mapper", TextInputFormat.class).set("mapreduce.mapper.regex", "o([a-z]+)[0-9]+")
            .set("mapreduce.mapper.regexmapper..group", 1).tweak(job -> {
              job.setMapperClass(RegexMapper.class);
              job.setMapOutputValueClass(LongWritable.class);
              job.setOutputValueClass(LongWritable.class);
              job.setReducerClass(LongSumReducer.class);
            }),
        words("api/inverse-mapper", TextInputFormat.class).order(Order.VALUES_FREE).tweak(job -> {
          job.setMapperClass(InverseMapper.class);
          job.setMapOutputValueClass(LongWritable.class);
          job.setOutputValueClass(LongWritable.class);
          job.setReducerClass(Reducer.class);
        }),
        words("api/nline-input", NLineInputFormat.class)
            .set("mapreduce.input.lineinputformat.linespermap", 100).tweak(job -> {
              job.setMapperClass(TokenCounterMapper.class);
              job.setReducerClass(IntSumReducer.class);
            }),
        words("api/key-value-input", KeyValueTextInputFormat.class)
            .set("mapreduce.input.keyvaluelinerecordreader.key.value.separator", " ").tweak(job -> {
              job.setMapOutputValueClass(Text.class);
              job.setOutputValueClass(Text.class);
              job.setReducerClass(Reducer.class);
            }).order(Order.VALUES_FREE),
        words("api/small-splits", TextInputFormat.class)
            .set("mapreduce.input.fileinputformat.split.maxsize", 9000).tweak(job -> {
              job.setMapperClass(TokenCounterMapper.class);
              job.setReducerClass(IntSumReducer.class);
            }));
  }

  private static Case traced(String name) {
    return Traced.of(name, Text.class, KEYS, IntWritable.class, NUMBERS);
  }

  /** Returns a case from text to words and numbers, with default classes in between. */
  private static Case words(String name, Class<?> inputFormat) {
    return Case.of(name).input(TextInput.words(2, 400)).order(Order.EXACT).body(trial -> {
      Job job = Job.getInstance(trial.conf());
      job.setInputFormatClass(inputFormat.asSubclass(org.apache.hadoop.mapreduce.InputFormat.class));
      FileInputFormat.addInputPath(job, trial.input("text"));
      job.setNumReduceTasks(2);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(IntWritable.class);
      FileOutputFormat.setOutputPath(job, trial.output("out"));
      trial.submit(trial.tweaked(job));
    });
  }

  private static Case multipleInputs() {
    return Case.of("api/multiple-inputs").input(TextInput.words(1, 300))
        .input(new SequenceInput<>(Text.class, KEYS, IntWritable.class, NUMBERS, "seq", 2, 300))
        .body(trial -> {
          Job job = Traced.job(trial, Text.class, IntWritable.class);
          job.getConfiguration().unset(FileInputFormat.INPUT_DIR);
          MultipleInputs.addInputPath(job, trial.input("text"), TextInputFormat.class, TokenCounterMapper.class);
          MultipleInputs.addInputPath(job, trial.input("seq"), SequenceFileInputFormat.class, Reusing.class);
          trial.submit(job);
        });
  }

  private static Case chain() {
    return Case.of("api/chain").order(Order.EXACT)
        .input(new SequenceInput<>(Text.class, KEYS, IntWritable.class, NUMBERS, "seq", 3, 400))
        .body(trial -> {
          Job job = Traced.job(trial, Text.class, IntWritable.class);
          Configuration none = new Configuration(false);
          ChainMapper.addMapper(job, Reusing.class, Text.class, IntWritable.class, Text.class, IntWritable.class,
              none);
          ChainMapper.addMapper(job, WritesLate.class, Text.class, IntWritable.class, Text.class,
              IntWritable.class, none);
          ChainReducer.setReducer(job, IntSumReducer.class, Text.class, IntWritable.class, Text.class,
              IntWritable.class, none);
          ChainReducer.addMapper(job, InverseMapper.class, Text.class, IntWritable.class, IntWritable.class,
              Text.class, none);
          job.setOutputKeyClass(IntWritable.class);
          job.setOutputValueClass(Text.class);
          trial.submit(job);
        });
  }

  /** Chains two jobs: the second sorts the counts of the first. */
  private static Case twoJobs() {
    return Case.of("api/two-jobs").input(TextInput.words(2, 300)).body(trial -> {
      Job count = Job.getInstance(trial.conf());
      FileInputFormat.addInputPath(count, trial.input("text"));
      count.setMapperClass(TokenCounterMapper.class);
      count.setReducerClass(IntSumReducer.class);
      count.setOutputKeyClass(Text.class);
      count.setOutputValueClass(IntWritable.class);
      count.setOutputFormatClass(SequenceFileOutputFormat.class);
      FileOutputFormat.setOutputPath(count, trial.output("counts"));
      trial.submit(count);
      Job sort = Traced.job(trial, IntWritable.class, Text.class);
      FileInputFormat.setInputPaths(sort, trial.output("counts"));
      sort.setMapperClass(InverseMapper.class);
      trial.submit(sort);
    });
  }

  /** Mapper that changes its objects as soon as write has returned. */
  public static final class Reusing extends Mapper<Text, IntWritable, Text, IntWritable> {
    private final Text reused = new Text();

    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      reused.set(key);
      context.write(reused, value);
      reused.set("overwritten");
      value.set(-1);
    }
  }

  /** Mapper that keeps all records until its input ends. */
  public static final class WritesLate extends Mapper<Text, IntWritable, Text, IntWritable> {
    private final java.util.ArrayList<Text> keys = new java.util.ArrayList<>();

    @Override
    protected void map(Text key, IntWritable value, Context context) {
      keys.add(new Text(key));
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      for (Text key : keys) {
        context.write(key, new IntWritable(key.getLength()));
      }
    }
  }

  /** Mapper that counts, reports progress and sets its status. */
  public static final class Talking extends Mapper<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void map(Text key, IntWritable value, Context context) throws IOException, InterruptedException {
      context.getCounter("map", "digit " + key.charAt(3)).increment(value.get());
      context.setStatus("at " + key);
      context.progress();
      context.write(key, value);
    }
  }

  /** Reducer that increments counters. */
  public static final class TalkingReducer extends Reducer<Text, IntWritable, Text, IntWritable> {
    enum Groups { SMALL, LARGE }

    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      int size = 0;
      for (IntWritable value : values) {
        size++;
        context.getCounter("reduce", "sum").increment(value.get());
      }
      context.getCounter(size < 20 ? Groups.SMALL : Groups.LARGE).increment(1);
      context.write(key, new IntWritable(size));
    }
  }

  /** Reducer that reads at most two values of a key. */
  public static final class Impatient extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      int seen = 0;
      for (IntWritable value : values) {
        if (value.get() >= 0 && ++seen == 2) {
          break;
        }
      }
      context.write(key, new IntWritable(seen));
    }
  }

  /** Reducer that reads no values. */
  public static final class Uninterested extends Reducer<Text, IntWritable, Text, IntWritable> {
    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(key, new IntWritable(0));
    }
  }

  /** Reducer that writes half of the sums to a file of their own. */
  public static final class Splitting extends Reducer<Text, IntWritable, Text, IntWritable> {
    private MultipleOutputs<Text, IntWritable> outputs;

    @Override
    protected void setup(Context context) {
      outputs = new MultipleOutputs<>(context);
    }

    @Override
    protected void reduce(Text key, Iterable<IntWritable> values, Context context)
        throws IOException, InterruptedException {
      int sum = 0;
      for (IntWritable value : values) {
        sum += value.get();
      }
      if (sum % 2 == 0) {
        outputs.write("even", key, new IntWritable(sum));
      } else {
        outputs.write(key, new IntWritable(sum), "odd/part");
      }
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      outputs.close();
    }
  }

  /** Partitioner that leaves all reduces but one without input. */
  public static final class AllToThird extends org.apache.hadoop.mapreduce.Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return 2;
    }
  }
}
