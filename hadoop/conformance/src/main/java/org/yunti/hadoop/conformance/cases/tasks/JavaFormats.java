package org.yunti.hadoop.conformance.cases.tasks;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.CombineTextInputFormat;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.MapFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.input.FileInput;
import org.yunti.hadoop.conformance.input.SequenceInput;
import org.yunti.hadoop.conformance.input.TextInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Codecs;
import org.yunti.hadoop.conformance.suite.NativeJob;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.suite.Twin;

/**
 * Native mappers and reducers between Java readers and writers. Each record crosses the boundary twice and must stay
 * unchanged.
 */
public final class JavaFormats {

  private JavaFormats() {}

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    readers(cases);
    writers(cases);
    classes(cases);
    return cases;
  }

  private static void readers(List<Case> cases) {
    cases.add(words("text", TextInputFormat.class).input(TextInput.words(3, 500)).onCluster());
    cases.add(words("text-cut", TextInputFormat.class).input(TextInput.words(3, 500))
        .set("mapreduce.input.fileinputformat.split.maxsize", 3000));
    cases.add(words("text-byte-order-mark", TextInputFormat.class).input(FileInput.text("text/a.txt", "\ufefffirst\r\nfirst")));
    cases.add(words("text-delimiter", TextInputFormat.class).input(FileInput.text("text/a.txt", "a b|;c\nd|;|;e |f;|;".repeat(30)))
        .set("textinputformat.record.delimiter", "|;"));
    cases.add(words("n-lines", NLineInputFormat.class).input(TextInput.words(2, 300))
        .set("mapreduce.input.lineinputformat.linespermap", 70));
    cases.add(words("combined-files", CombineTextInputFormat.class).input(TextInput.words(9, 50))
        .set("mapreduce.input.fileinputformat.split.maxsize", 8000));
    cases.add(words("empty-file", TextInputFormat.class).input(FileInput.text("text/a.txt", "")));
    cases.add(words("no-files", TextInputFormat.class).input(trial -> trial.fileSystem().mkdirs(trial.input("text"))));
    cases.add(words("huge-line", TextInputFormat.class).set("mapreduce.task.io.sort.mb", 32)
        .input(FileInput.text("text/a.txt", "a b\n" + "some words ".repeat(300_000) + "\nb c\n")));
    for (String[] codec : new String[][] {
        {"Gzip", "gz"}, {"BZip2", "bz2"}, {"Snappy", "snappy"}, {"Lz4", "lz4"}, {"Default", "deflate"}, {"ZStandard", "zst"}}) {
      cases.add(words("text-of-" + codec[1], TextInputFormat.class).skippedIf(conf -> Codecs.obstacle(codec[0], conf))
          .input(FileInput.of("text/a." + codec[1],
              conf -> Codecs.compressed(codec[0], "some words of some text\n".repeat(900).getBytes(StandardCharsets.UTF_8), conf))));
    }
    cases.add(Twin.of("reader/key-values", "text", job -> {
      job.setInputFormatClass(KeyValueTextInputFormat.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
    }, NativeJob.of().reader(KeyValueTextInputFormat.class))
        .input(new TextInput((random, line) -> "key" + random.nextInt(90) + (line % 9 == 0 ? "" : "\tvälue\t" + line), "text", 3, 400)));
    // The key of a line is its position, as a number of the C ABI.
    cases.add(Twin.of("reader/positions", "text", job -> {
      job.setMapperClass(LittleEndian.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(BytesWritable.class);
      job.setOutputValueClass(Text.class);
    }, NativeJob.of().reader(TextInputFormat.class).writer(TextOutputFormat.class).outputs(BytesWritable.class, Text.class)
        .mapOutput(BytesWritable.class, Text.class)).input(TextInput.words(2, 300)));
    cases.add(Twin.of("reader/own", "nothing", job -> {
      job.setInputFormatClass(Counting.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
    }, NativeJob.of().reader(Counting.class))
        .input(trial -> trial.fileSystem().mkdirs(trial.input("nothing"))).onCluster());
    cases.add(Twin.of("reader/total-order", "seq", 1, job -> {
      job.setInputFormatClass(SequenceFileInputFormat.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
      job.setOutputFormatClass(SequenceFileOutputFormat.class);
    }, NativeJob.of("partitioner = \"total-order\"").reader(SequenceFileInputFormat.class).writer(SequenceFileOutputFormat.class))
        .input(texts((random, record) -> new Text("value" + record))));
  }

  /** Returns a native word count over the reader's records, with text output. */
  private static Case words(String name, Class<?> reader) {
    return Twin.of("reader/" + name, "text", job -> {
      job.setInputFormatClass(reader.asSubclass(InputFormat.class));
      WordCounts.combined(job);
    }, WordCounts.FOLDER.reader(reader)).order(Order.EXACT);
  }

  private static void writers(List<Case> cases) {
    cases.add(written("text", job -> { }, WordCounts.FOLDER.writer(TextOutputFormat.class)));
    cases.add(written("text-separator", job -> { }, WordCounts.FOLDER.writer(TextOutputFormat.class))
        .set("mapreduce.output.textoutputformat.separator", "="));
    cases.add(written("sequence-file", job -> job.setOutputFormatClass(SequenceFileOutputFormat.class),
        WordCounts.FOLDER.writer(SequenceFileOutputFormat.class).outputs(Text.class, IntWritable.class)).onCluster());
    cases.add(written("map-file", job -> job.setOutputFormatClass(MapFileOutputFormat.class),
        WordCounts.FOLDER.writer(MapFileOutputFormat.class).outputs(Text.class, IntWritable.class)));
    cases.add(written("own", job -> job.setOutputFormatClass(Shouting.class),
        WordCounts.FOLDER.writer(Shouting.class).outputs(Text.class, IntWritable.class)));
    for (String codec : List.of("Default", "Gzip", "BZip2", "Snappy", "Lz4", "ZStandard")) {
      String name = codec.toLowerCase(java.util.Locale.ROOT);
      cases.add(compressed(codec, written("text-" + name, job -> { }, WordCounts.FOLDER.writer(TextOutputFormat.class))));
      cases.add(compressed(codec, written("sequence-file-" + name, job -> job.setOutputFormatClass(SequenceFileOutputFormat.class),
          WordCounts.FOLDER.writer(SequenceFileOutputFormat.class).outputs(Text.class, IntWritable.class)))
          .set("mapreduce.output.fileoutputformat.compress.type", codec.equals("Gzip") ? "RECORD" : "BLOCK"));
      // The native writer must honour the setting too.
      cases.add(compressed(codec, written("native-" + name, job -> { }, WordCounts.FOLDER)));
    }
    cases.add(Twin.of("writer/maps-alone", "text", 0, job -> {
      job.setInputFormatClass(KeyValueTextInputFormat.class);
      job.setOutputFormatClass(SequenceFileOutputFormat.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
    }, NativeJob.of("input-format = \"kv\"").writer(SequenceFileOutputFormat.class)).order(Order.EXACT)
        .input(new TextInput((random, line) -> "key" + random.nextInt(90) + "\tvalue" + line, "text", 3, 400)));
    cases.add(compressed("Gzip", Twin.of("writer/maps-alone-native-gzip", "text", 0, job -> {
      job.setMapperClass(Sorts.LineAsKey.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(NullWritable.class);
    }, NativeJob.of()).order(Order.EXACT).input(TextInput.words(2, 200))));
  }

  private static Case written(String name, Case.Tweak writer, NativeJob nativeJob) {
    return Twin.of("writer/" + name, "text", job -> {
      WordCounts.combined(job);
      writer.apply(job);
    }, nativeJob).order(Order.EXACT).input(TextInput.words(3, 300));
  }

  private static Case compressed(String codec, Case written) {
    return written.set("mapreduce.output.fileoutputformat.compress", true)
        .set("mapreduce.output.fileoutputformat.compress.codec", Codecs.className(codec))
        .skippedIf(conf -> Codecs.obstacle(codec, conf))
        .skippedIf(conf -> sequenceFileObstacle(codec, written))
        .counterMayDiffer("BYTES_WRITTEN", "the same records make other bytes in another codec library, or behind another buffer");
  }

  /**
   * Returns why the codec cannot write sequence files here, or null: Hadoop refuses GzipCodec without its native
   * library.
   */
  private static String sequenceFileObstacle(String codec, Case written) {
    return codec.equals("Gzip") && written.name().contains("sequence-file")
        ? "stock Hadoop writes sequence files with GzipCodec by its native library alone" : null;
  }

  private static void classes(List<Case> cases) {
    cases.add(carried("text", Text.class, (random, record) -> new Text("välue" + record)));
    cases.add(carried("bytes", BytesWritable.class, (random, record) -> {
      byte[] bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      return new BytesWritable(bytes);
    }));
    cases.add(carried("int", IntWritable.class, Draw.edges(
        List.of(new IntWritable(Integer.MIN_VALUE), new IntWritable(-1), new IntWritable(0), new IntWritable(Integer.MAX_VALUE)),
        (random, record) -> new IntWritable(random.nextInt()))));
    cases.add(carried("long", LongWritable.class, Draw.edges(
        List.of(new LongWritable(Long.MIN_VALUE), new LongWritable(-1), new LongWritable(0), new LongWritable(Long.MAX_VALUE)),
        (random, record) -> new LongWritable(random.nextLong()))));
    cases.add(carried("float", FloatWritable.class, Draw.edges(
        List.of(new FloatWritable(-0f), new FloatWritable(Float.NaN), new FloatWritable(Float.NEGATIVE_INFINITY), new FloatWritable(Float.MIN_VALUE)),
        (random, record) -> new FloatWritable(random.nextFloat()))));
    cases.add(carried("double", DoubleWritable.class, Draw.edges(
        List.of(new DoubleWritable(-0d), new DoubleWritable(Double.NaN), new DoubleWritable(Double.MAX_VALUE)),
        (random, record) -> new DoubleWritable(random.nextGaussian()))));
    cases.add(carried("null", NullWritable.class, Draw.always(NullWritable.get())));
    cases.add(carried("own", Pair.class, (random, record) -> new Pair(random.nextInt(), "sécond" + record)));
    cases.add(carried("huge", BytesWritable.class, (random, record) -> new BytesWritable(new byte[record == 50 ? 9 << 20 : 10]))
        .set("mapreduce.task.io.sort.mb", 64));
    cases.add(Twin.of("class/bytes-as-keys", "seq", job -> {
      job.setInputFormatClass(SequenceFileInputFormat.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(BytesWritable.class);
      job.setOutputValueClass(BytesWritable.class);
      job.setOutputFormatClass(SequenceFileOutputFormat.class);
    }, NativeJob.of().reader(SequenceFileInputFormat.class).writer(SequenceFileOutputFormat.class)
        .outputs(BytesWritable.class, BytesWritable.class).mapOutput(BytesWritable.class, BytesWritable.class))
        .input(new SequenceInput<>(BytesWritable.class, (random, record) -> bytes(random, random.nextInt(4)), BytesWritable.class,
            (random, record) -> bytes(random, random.nextInt(30)), "seq", 3, 500)));
  }

  private static BytesWritable bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return new BytesWritable(bytes);
  }

  /** Returns a case with Text keys and values of this class, sorted and written as they were read. */
  private static <V extends Writable> Case carried(String name, Class<V> valueClass, Draw<V> values) {
    return Twin.of("class/" + name, "seq", job -> {
      job.setInputFormatClass(SequenceFileInputFormat.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(valueClass);
      job.setOutputFormatClass(SequenceFileOutputFormat.class);
    }, NativeJob.of().reader(SequenceFileInputFormat.class).writer(SequenceFileOutputFormat.class).outputs(Text.class, valueClass)
        .mapOutput(Text.class, valueClass))
        .input(new SequenceInput<>(Text.class, (random, record) -> new Text("key" + random.nextInt(90)), valueClass, values, "seq", 3, 300));
  }

  private static Case.Input texts(Draw<Text> values) {
    return new SequenceInput<>(Text.class, (random, record) -> new Text("key" + random.nextInt(90)), Text.class, values, "seq", 3, 300);
  }

  /** Mapper that emits a line and its position in the form that native classes get. */
  public static final class LittleEndian extends Mapper<LongWritable, Text, BytesWritable, Text> {
    @Override
    protected void map(LongWritable position, Text line, Context context) throws IOException, InterruptedException {
      byte[] bytes = new byte[8];
      for (int i = 0; i < 8; i++) {
        bytes[i] = (byte) (position.get() >>> 8 * i);
      }
      context.write(new BytesWritable(bytes), line);
    }
  }

  /** User-defined class; native code gets its serialised form. */
  public static final class Pair implements Writable {
    private int first;
    private String second;

    public Pair() {}

    Pair(int first, String second) {
      this.first = first;
      this.second = second;
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(first);
      out.writeUTF(second);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      first = in.readInt();
      second = in.readUTF();
    }
  }

  /** Input format without files: two splits that count. */
  public static final class Counting extends InputFormat<Text, Text> {
    /** Split whose whole state is its number. */
    public static final class Numbers extends InputSplit implements Writable {
      private int number;

      @Override
      public long getLength() {
        return 0;
      }

      @Override
      public String[] getLocations() {
        return new String[0];
      }

      @Override
      public void write(DataOutput out) throws IOException {
        out.writeInt(number);
      }

      @Override
      public void readFields(DataInput in) throws IOException {
        number = in.readInt();
      }
    }

    @Override
    public List<InputSplit> getSplits(JobContext context) {
      List<InputSplit> splits = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Numbers split = new Numbers();
        split.number = i;
        splits.add(split);
      }
      return splits;
    }

    @Override
    public RecordReader<Text, Text> createRecordReader(InputSplit split, TaskAttemptContext context) {
      return new RecordReader<>() {
        private int record;
        private int number;

        @Override
        public void initialize(InputSplit given, TaskAttemptContext of) {
          number = ((Numbers) given).number;
        }

        @Override
        public boolean nextKeyValue() {
          return record++ < 1000;
        }

        @Override
        public Text getCurrentKey() {
          return new Text("key" + record * 7919 % 211);
        }

        @Override
        public Text getCurrentValue() {
          return new Text(number + ":" + record);
        }

        @Override
        public float getProgress() {
          return record / 1000f;
        }

        @Override
        public void close() {}
      };
    }
  }

  /** Output format that writes upper-case text to a file of another name. */
  public static final class Shouting extends FileOutputFormat<Text, IntWritable> {
    @Override
    public RecordWriter<Text, IntWritable> getRecordWriter(TaskAttemptContext context) throws IOException {
      var file = getDefaultWorkFile(context, ".shout");
      var out = file.getFileSystem(context.getConfiguration()).create(file, false);
      return new RecordWriter<>() {
        @Override
        public void write(Text key, IntWritable value) throws IOException {
          out.write((key.toString().toUpperCase(java.util.Locale.ROOT) + "!" + value + "\n").getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void close(TaskAttemptContext closing) throws IOException {
          out.close();
        }
      };
    }
  }
}
