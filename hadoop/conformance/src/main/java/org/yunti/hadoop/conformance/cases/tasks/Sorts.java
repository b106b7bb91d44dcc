package org.yunti.hadoop.conformance.cases.tasks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FixedLengthInputFormat;
import org.apache.hadoop.mapreduce.lib.input.KeyValueTextInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.yunti.hadoop.conformance.input.FileInput;
import org.yunti.hadoop.conformance.input.TextInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.NativeJob;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.suite.Twin;

/** Records that pass unchanged: only their partition and order are tested. */
public final class Sorts {
  private static final NativeJob LINES = NativeJob.of();
  private static final NativeJob KEY_VALUES = NativeJob.of("input-format = \"kv\"");
  /** Bytes of a fixed-length record; the first {@code KEY_BYTES} are the key. */
  private static final int FIXED_BYTES = 40;

  private static final int KEY_BYTES = 10;
  private static final int MEGABYTE = 1 << 20;

  private Sorts() {}

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    lines(cases);
    keyValues(cases);
    sizes(cases);
    fixed(cases);
    totalOrders(cases);
    mapsAlone(cases);
    return cases;
  }

  private static void lines(List<Case> cases) {
    TextInput lines = new TextInput(Sorts::anyLine, "text", 3, 700);
    cases.add(sorted("sort/lines", LINES).input(lines).onCluster());
    cases.add(sorted("sort/lines-identity-reducer", LINES.with("reducer = \"Yunti.IdentityReducer\"")).input(lines));
    cases.add(Twin.cut(sorted("sort/lines-of-delimiter-cut", NativeJob.of("input-format = \"text:|;\"")), 30)
        .input(FileInput.text("text/a.txt", "a b|;c\nd|;|;e |f;|;".repeat(30) + "last"))
        .set("textinputformat.record.delimiter", "|;"));
    cases.add(sorted("sort/lines-descending", LINES.with("descending = true")).input(lines)
        .tweak(job -> job.setSortComparatorClass(Descending.class)));
    cases.add(Twin.cut(sorted("sort/lines-cut", LINES).input(lines), 2000));
    cases.add(sorted("sort/many-small-files", LINES).input(new TextInput(Sorts::anyLine, "text", 40, 5)));
    cases.add(sorted("sort/lines-of-one-byte", LINES)
        .input(new TextInput((random, line) -> Character.toString((char) ('a' + random.nextInt(26))), "text", 2, 2000)));
    cases.add(sorted("sort/empty-lines", LINES).input(FileInput.text("text/a.txt", "\n\nb\n\n\na\n\n")));
    // Common prefixes longer than any prefix that is compared at once.
    cases.add(sorted("sort/long-common-prefixes", LINES).input(new TextInput(
        (random, line) -> "the same beginning of many keys, ".repeat(4) + anyLine(random, line), "text", 2, 700)));
    cases.add(Twin.spilling(sorted("sort/spills", LINES).input(new TextInput(
        (random, line) -> random.nextLong() + "x".repeat(random.nextInt(300)), "text", 1, 60_000))));
    cases.add(Twin.spilling(sorted("sort/spills-cut", LINES).input(new TextInput(
        (random, line) -> random.nextLong() + "x".repeat(random.nextInt(300)), "text", 1, 60_000)))
        .set("mapreduce.input.fileinputformat.split.maxsize", 5 * MEGABYTE).counterMayDiffer("BYTES_READ", Twin.READ_AHEAD));
    cases.add(sorted("sort/huge-line", LINES).set("mapreduce.task.io.sort.mb", 64).input(FileInput.text("text/a.txt",
        "b\n" + "huge".repeat(2 * MEGABYTE) + "\na\n" + "huge".repeat(2 * MEGABYTE) + "r\n")));
    cases.add(sorted("sort/line-above-buffer-size", LINES).input(FileInput.text("text/a.txt", "b\n" + "huge".repeat(2 * MEGABYTE) + "\na\n"))
        .counterMayDiffer("BYTES_READ", "the split is read again when more memory is taken for its large record")
        .counterMayDiffer("MAP_OUTPUT_BYTES", "stock counts five bytes that no record has: its buffer ends within the line"));
    cases.add(sorted("sort/reduce-merges-on-disk", LINES).input(new TextInput(
        (random, line) -> random.nextLong() + "x".repeat(random.nextInt(300)), "text", 6, 10_000))
        .set("mapreduce.reduce.memory.totalbytes", 1000));
  }

  private static Case sorted(String name, NativeJob nativeJob) {
    return Twin.of(name, "text", job -> {
      job.setMapperClass(LineAsKey.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(NullWritable.class);
    }, nativeJob).order(Order.EXACT);
  }

  private static String anyLine(Random random, int line) {
    String[] parts = {"a", "b", "ab", "ä", "云", "\t", " ", "", "z", "\u007f", "é", "00", "\ud83d\ude00"};
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(9); i > 0; i--) {
      text.append(parts[random.nextInt(parts.length)]);
    }
    return text.toString();
  }

  private static void keyValues(List<Case> cases) {
    TextInput records = new TextInput((random, line) -> "key" + random.nextInt(300) + "\t" + anyLine(random, line), "text", 3, 700);
    cases.add(keyValue("sort/key-values", KEY_VALUES).input(records));
    cases.add(keyValue("sort/key-values-identity-reducer", KEY_VALUES.with("reducer = \"Yunti.IdentityReducer\"")).input(records));
    cases.add(keyValue("sort/key-values-descending", KEY_VALUES.with("descending = true")).input(records)
        .tweak(job -> job.setSortComparatorClass(Descending.class)));
    cases.add(keyValue("sort/key-values-without-separator", KEY_VALUES)
        .input(FileInput.text("text/a.txt", "alone\nkey\tvalue\n\tno key\nno value\t\n\n\t\na\tb\tc\n")));
    cases.add(keyValue("sort/key-values-other-separator", NativeJob.of("input-format = \"kv:=\"", "output-format = \"text:\\t-> \""))
        .input(new TextInput((random, line) -> "k" + random.nextInt(50) + "=v=" + line, "text", 2, 300))
        .set("mapreduce.input.keyvaluelinerecordreader.key.value.separator", "=")
        .set("mapreduce.output.textoutputformat.separator", "\t-> "));
    TextInput skewed = new TextInput(
        (random, line) -> (random.nextInt(50) == 0 ? "cold" + random.nextInt(20) : "hot") + "\t" + random.nextInt(), "text", 3, 8000);
    cases.add(keyValue("sort/skew", KEY_VALUES).input(skewed));
    cases.add(keyValue("sort/skew-of-values-cut", KEY_VALUES).input(skewed)
        .set("mapreduce.input.fileinputformat.split.maxsize", 20_000).counterMayDiffer("BYTES_READ", Twin.READ_AHEAD));
    cases.add(Twin.spilling(keyValue("sort/key-values-spills", KEY_VALUES).input(new TextInput(
        (random, line) -> "key" + random.nextInt(900) + "\t" + "v".repeat(random.nextInt(8000)), "text", 2, 2500))));
    // With -Xcheck:jni, java.util.zip's Deflater reads a copy of the whole sort buffer and copies it back at its end,
    // over what stock Hadoop collected while it spilled. With this limit nothing is collected during a spill.
    cases.add(Twin.spilling(keyValue("sort/key-values-spills-gzip", KEY_VALUES).input(new TextInput(
        (random, line) -> "key" + random.nextInt(900) + "\t" + "v".repeat(random.nextInt(8000)), "text", 1, 2500)))
        .set("mapreduce.map.sort.spill.percent", "1.0")
        .mapOutput("Gzip"));
    cases.add(keyValue("sort/huge-values", KEY_VALUES).set("mapreduce.task.io.sort.mb", 48).input(new TextInput(
        (random, line) -> "key" + line % 3 + "\t" + (line == 5 ? "value".repeat(MEGABYTE) : "small" + line), "text", 2, 20)));
  }

  private static Case keyValue(String name, NativeJob nativeJob) {
    return Twin.of(name, "text", job -> {
      job.setInputFormatClass(KeyValueTextInputFormat.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
    }, nativeJob);
  }

  /** Adds records of one size, 3.5 times as much as the buffer, like {@code cases/shape/Sizes}. */
  private static void sizes(List<Case> cases) {
    for (int bytes : new int[] {1_000, 16_000, 38_000, 64_000, 70_000, 200_000, 500_000, 1_000_000}) {
      for (int megabytes : new int[] {4, 8, 16}) {
        int lines = (int) (3.5 * (megabytes << 20) / bytes) + 1;
        Case sized = keyValue("sizes/" + bytes + "-bytes-" + megabytes + "-mb", KEY_VALUES)
            .input(new TextInput((random, line) -> "key" + random.nextInt(1 << 30) + "\t" + "v".repeat(bytes) + line, "text", 1, lines))
            .set("mapreduce.task.io.sort.mb", megabytes)
            .counterMayDiffer("BYTES_READ", Twin.READ_AHEAD)
            .mustSpill();
        boolean isQuick = bytes == 64_000 && megabytes == 4 || bytes == 200_000 && megabytes == 8;
        cases.add(isQuick ? sized : sized.onlyInSweep());
      }
    }
  }

  private static void fixed(List<Case> cases) {
    Case.Input records = fixedRecords("fixed/a.bin", 2000);
    cases.add(fixed("sort/fixed", "").input(records));
    cases.add(fixed("sort/fixed-descending", "descending = true").input(records)
        .tweak(job -> job.setSortComparatorClass(DescendingBytes.class)));
    cases.add(Twin.cut(fixed("sort/fixed-cut", "").input(records), 999));
    cases.add(Twin.cut(fixed("sort/fixed-cut-within-records", "").input(fixedRecords("fixed/a.bin", 30)), 13));
    cases.add(fixed("sort/fixed-empty", "").input(fixedRecords("fixed/a.bin", 0)));
    cases.add(fixed("sort/fixed-broken", "").input(FileInput.of("fixed/a.bin", conf -> new byte[FIXED_BYTES * 7 + 5])).mustFail(""));
  }

  private static Case fixed(String name, String line) {
    return Twin.of(name, "fixed", job -> {
      job.setInputFormatClass(FixedLengthInputFormat.class);
      FixedLengthInputFormat.setRecordLength(job.getConfiguration(), FIXED_BYTES);
      job.setMapperClass(FixedAsRecord.class);
      job.setReducerClass(Reducer.class);
      job.setOutputKeyClass(BytesWritable.class);
      job.setOutputValueClass(BytesWritable.class);
      job.setOutputFormatClass(RawOutput.class);
    }, NativeJob.of("input-format = \"fixed:" + FIXED_BYTES + ":" + KEY_BYTES + "\"", "output-format = \"raw\"", line)
        .mapOutput(BytesWritable.class, BytesWritable.class));
  }

  /** Writes key, tab and value without line-end bytes, so that output records can be separated. */
  private static Case.Input fixedRecords(String path, int records) {
    return FileInput.of(path, conf -> {
      Random random = new Random(11);
      byte[] all = new byte[records * FIXED_BYTES];
      for (int at = 0; at < all.length; at++) {
        int place = at % FIXED_BYTES;
        // Few different key bytes, so that equal keys occur.
        int any = place < KEY_BYTES ? (place < 8 ? 'k' : 0x7e + random.nextInt(40)) : 0x20 + random.nextInt(0xe0);
        all[at] = (byte) (place == KEY_BYTES ? '\t' : place == FIXED_BYTES - 1 ? '\n' : any);
      }
      return all;
    });
  }

  private static void totalOrders(List<Case> cases) {
    TextInput lines = new TextInput((random, line) -> Long.toString(random.nextLong() >>> 1, 36) + anyLine(random, line), "text", 3, 2000);
    for (boolean descending : new boolean[] {false, true}) {
      NativeJob job = NativeJob.of("partitioner = \"total-order\"", "descending = " + descending);
      Case sorted = inTotalOrder(descending ? "total-order/lines-descending" : "total-order/lines", "text", job, Sorts::sampledLines)
          .input(lines);
      cases.add(descending ? sorted.tweak(java -> java.setSortComparatorClass(Descending.class)) : sorted);
    }
    cases.add(inTotalOrder("total-order/terasort", "tera",
        NativeJob.of("input-format = \"fixed:100:10\"", "output-format = \"raw\"", "partitioner = \"total-order\""), null)
        .input(teraRecords("tera/a", 4000, 1)).input(teraRecords("tera/b", 3000, 2)).onCluster()
        .counterMayDiffer("SPLIT_RAW_BYTES", "TeraSort's splits have a class of their own, whose name is counted")
        .body(trial -> {
          trial.program(TeraSort.class, "-Dmapreduce.job.reduces=4", trial.input("tera").toString(), trial.output("out").toString());
          trial.fileSystem().delete(trial.output("out/_partition.lst"), false);
        }));
  }

  /**
   * Returns a case of four partitions. None may be empty, because a partitioner without effect would otherwise pass.
   */
  private static Case inTotalOrder(String name, String folder, NativeJob nativeJob, Case.Tweak java) {
    Case twin = Twin.of(name, folder, 4, java, nativeJob).order(Order.JOINED_PARTS);
    Case.Body nativeBody = twin.nativeBody();
    return twin.nativeBody(trial -> {
      nativeBody.run(trial);
      for (FileStatus file : trial.fileSystem().globStatus(trial.output("out/part-*"))) {
        if (file.getLen() == 0) {
          throw new java.io.IOException("no records in " + file.getPath().getName());
        }
      }
    });
  }

  private static void sampledLines(Job job) throws Exception {
    job.setInputFormatClass(TextInputFormat.class);
    job.setMapperClass(LineAsKey.class);
    job.setReducerClass(Reducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(NullWritable.class);
    job.setPartitionerClass(CutByFirstByte.class);
  }

  private static Case.Input teraRecords(String path, int records, int seed) {
    return FileInput.of(path, conf -> {
      Random random = new Random(seed);
      byte[] all = new byte[100 * records];
      for (int at = 0; at < all.length; at++) {
        all[at] = (byte) (at % 100 == 99 ? '\n' : ' ' + random.nextInt(95));
      }
      return all;
    });
  }

  private static void mapsAlone(List<Case> cases) {
    TextInput lines = new TextInput(Sorts::anyLine, "text", 3, 700);
    cases.add(copied("maps-alone/lines").input(lines));
    cases.add(Twin.cut(copied("maps-alone/lines-cut").input(lines), 2000));
    cases.add(copied("maps-alone/empty-file").input(FileInput.text("text/a.txt", "")));
    cases.add(copied("maps-alone/no-final-newline").input(FileInput.text("text/a.txt", "one\r\ntwo\nthree")));
    cases.add(Twin.of("maps-alone/key-values", "text", 0, job -> {
      job.setInputFormatClass(KeyValueTextInputFormat.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(Text.class);
    }, NativeJob.of("input-format = \"kv\"")).order(Order.EXACT)
        .input(new TextInput((random, line) -> "key" + random.nextInt(300) + "\t" + anyLine(random, line), "text", 3, 700)));
  }

  private static Case copied(String name) {
    return Twin.of(name, "text", 0, job -> {
      job.setMapperClass(LineAsKey.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(NullWritable.class);
    }, NativeJob.of()).order(Order.EXACT);
  }

  /** Mapper that emits a line as the native identity does. */
  public static final class LineAsKey extends Mapper<LongWritable, Text, Text, NullWritable> {
    @Override
    protected void map(LongWritable position, Text line, Context context) throws java.io.IOException, InterruptedException {
      context.write(line, NullWritable.get());
    }
  }

  /** Mapper that splits a fixed-length record into key and value. */
  public static final class FixedAsRecord extends Mapper<LongWritable, BytesWritable, BytesWritable, BytesWritable> {
    @Override
    protected void map(LongWritable position, BytesWritable record, Context context) throws java.io.IOException, InterruptedException {
      byte[] bytes = record.copyBytes();
      context.write(new BytesWritable(Arrays.copyOf(bytes, KEY_BYTES)),
          new BytesWritable(Arrays.copyOfRange(bytes, KEY_BYTES, bytes.length)));
    }
  }

  /** Output format that writes keys and values without separators. */
  public static final class RawOutput extends FileOutputFormat<BytesWritable, BytesWritable> {
    @Override
    public RecordWriter<BytesWritable, BytesWritable> getRecordWriter(TaskAttemptContext context) throws java.io.IOException {
      Path file = getDefaultWorkFile(context, "");
      var out = file.getFileSystem(context.getConfiguration()).create(file, false);
      return new RecordWriter<>() {
        @Override
        public void write(BytesWritable key, BytesWritable value) throws java.io.IOException {
          out.write(key.getBytes(), 0, key.getLength());
          out.write(value.getBytes(), 0, value.getLength());
        }

        @Override
        public void close(TaskAttemptContext closing) throws java.io.IOException {
          out.close();
        }
      };
    }
  }

  /** Descending order of Text. */
  public static final class Descending extends WritableComparator {
    public Descending() {
      super(Text.class);
    }

    @Override
    public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
      return new Text.Comparator().compare(b, bStart, bLength, a, aStart, aLength);
    }
  }

  /** Descending order of bytes. */
  public static final class DescendingBytes extends WritableComparator {
    public DescendingBytes() {
      super(BytesWritable.class);
    }

    @Override
    public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
      return new BytesWritable.Comparator().compare(b, bStart, bLength, a, aStart, aLength);
    }
  }

  /** Partitioner by ranges of the first byte, in the job's order. The bounds are not compared. */
  public static final class CutByFirstByte extends org.apache.hadoop.mapreduce.Partitioner<Text, NullWritable>
      implements org.apache.hadoop.conf.Configurable {
    private org.apache.hadoop.conf.Configuration conf;

    @Override
    public void setConf(org.apache.hadoop.conf.Configuration newConf) {
      conf = newConf;
    }

    @Override
    public org.apache.hadoop.conf.Configuration getConf() {
      return conf;
    }

    @Override
    public int getPartition(Text key, NullWritable value, int partitions) {
      int part = (key.getLength() == 0 ? 0 : key.getBytes()[0] & 0xff) * partitions / 256;
      boolean descending = conf.get("mapreduce.job.output.key.comparator.class", "").endsWith("Descending");
      return descending ? partitions - 1 - part : part;
    }
  }
}
