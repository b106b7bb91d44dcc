package org.yunti.hadoop.conformance.cases.tasks;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.yunti.hadoop.conformance.input.FileInput;
import org.yunti.hadoop.conformance.input.TextInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Codecs;
import org.yunti.hadoop.conformance.suite.NativeJob;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.suite.Twin;

/**
 * Word count over texts of all shapes: the classes of hadoop-mapreduce-examples against native tasks. The counts show
 * how a text is split into words.
 */
public final class WordCounts {
  static final NativeJob FOLDER = counting("folder = \"Yunti.SumFolder\"");
  private static final NativeJob REDUCER = counting("reducer = \"Yunti.SumReducer\"");
  private static final NativeJob COMBINER = counting("combiner = \"Yunti.SumReducer\"", "reducer = \"Yunti.SumReducer\"");
  private static final int MEGABYTE = 1 << 20;

  private WordCounts() {}

  /** Returns a word count whose counts are IntWritable in Java. */
  private static NativeJob counting(String... classes) {
    NativeJob job = NativeJob.of("mapper = \"Yunti.WordCountMapper\"").mapOutput(Text.class, IntWritable.class);
    for (String line : classes) {
      job = job.with(line);
    }
    return job;
  }

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    cases.add(counted("words/folder").input(TextInput.words(3, 500)).onCluster());
    cases.add(Twin.of("words/combiner", "text", WordCounts::combined, COMBINER).order(Order.EXACT).input(TextInput.words(3, 500)));
    cases.add(Twin.of("words/reducer", "text", WordCounts::reduced, REDUCER).order(Order.EXACT).input(TextInput.words(3, 500)));
    extents(cases);
    buffers(cases);
    codecs(cases);
    texts(cases);
    return cases;
  }

  private static Case counted(String name) {
    return Twin.of(name, "text", WordCounts::combined, FOLDER).order(Order.EXACT);
  }

  private static Case counted(String name, int reduces) {
    return Twin.of(name, "text", reduces, WordCounts::combined, FOLDER).order(Order.EXACT);
  }

  static void combined(Job job) {
    reduced(job);
    job.setCombinerClass(WordCount.IntSumReducer.class);
  }

  private static void reduced(Job job) {
    job.setMapperClass(WordCount.TokenizerMapper.class);
    job.setReducerClass(WordCount.IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
  }

  private static Case partitions(String name, int reduces) {
    return counted(name, reduces).input(TextInput.words(2, 300))
        .set("mapreduce.local.reduce.tasks.maximum", 8)
        .counterMayDiffer("BYTES_WRITTEN", "tasks of one JVM share the statistics of the file system");
  }

  private static void extents(List<Case> cases) {
    cases.add(counted("words/one-partition", 1).input(TextInput.words(2, 300)));
    cases.add(counted("words/seven-partitions", 7).input(TextInput.words(2, 300)));
    cases.add(partitions("words/three-hundred-partitions", 300));
    cases.add(partitions("words/thousand-partitions", 1000).onlyInSweep());
    cases.add(counted("words/empty-partitions", 20).input(FileInput.text("text/a.txt", "three words only, only three\n")));
    cases.add(counted("words/empty-file").input(FileInput.text("text/a.txt", "")));
    cases.add(counted("words/no-files").input(trial -> trial.fileSystem().mkdirs(trial.input("text"))));
    cases.add(counted("words/empty-file-among-others").input(TextInput.words(2, 100)).input(FileInput.text("text/a.txt", "")));
    cases.add(counted("words/blanks-alone").input(FileInput.text("text/a.txt", " \t \n\n\r\n   \f\n")));
    cases.add(counted("words/many-small-files").input(TextInput.words(60, 3)));
    cases.add(counted("words/hidden-files").input(TextInput.words(1, 30)).input(FileInput.text("text/_hidden", "not to be read\n"))
        .input(FileInput.text("text/.hidden", "not to be read\n")));
    TextInput skewed = new TextInput(
        (random, line) -> "hot hot hot hot " + (line % 50 == 0 ? "cold" + random.nextInt(40) : "hot"), "text", 3, 3000);
    cases.add(counted("words/skew").input(skewed));
    cases.add(Twin.of("words/skew-reducer", "text", WordCounts::reduced, REDUCER).order(Order.EXACT).input(skewed));
  }

  private static void buffers(List<Case> cases) {
    // 6 MB of mostly unique words: more than the 4 MB minimum of a native task, and than Hadoop's 1 MB here.
    TextInput many = new TextInput((random, line) -> {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 8; i++) {
        text.append(Long.toString(random.nextLong() >>> 20, 36)).append(i == 7 ? "" : " ");
      }
      return text.append(" often").toString();
    }, "text", 1, 60_000);
    cases.add(Twin.combinedInSpills(counted("words/spills-of-folder").input(many)));
    cases.add(Twin.spilling(Twin.of("words/spills-of-reducer", "text", WordCounts::reduced, REDUCER).order(Order.EXACT).input(many)));
    cases.add(Twin.combinedInSpills(
        Twin.of("words/spills-of-combiner", "text", WordCounts::combined, COMBINER).order(Order.EXACT).input(many)));
    cases.add(Twin.combinedInSpills(counted("words/spills-and-codec").input(many).mapOutput("Lz4")));
    cases.add(counted("words/one-huge-word").set("mapreduce.task.io.sort.mb", 64).input(FileInput.text("text/a.txt",
        "small " + "huge".repeat(2 * MEGABYTE) + "\nsmall again\n")));
    Case.Input hugeLine = FileInput.of("text/a.txt", conf -> {
      StringBuilder line = new StringBuilder("before\n");
      for (int i = 0; i < MEGABYTE / 2; i++) {
        line.append("word").append(i % 977).append(' ');
      }
      return line.append("\nbehind\n").toString().getBytes(StandardCharsets.UTF_8);
    });
    cases.add(Twin.cut(counted("words/one-huge-line").input(hugeLine), MEGABYTE).set("mapreduce.task.io.sort.mb", 32));
    cases.add(Twin.cut(counted("words/line-above-buffer-size").input(hugeLine), MEGABYTE)
        .counterMayDiffer("COMBINE_INPUT_RECORDS", "with more memory nothing is spilled")
        .counterMayDiffer("COMBINE_OUTPUT_RECORDS", "as above"));
  }

  private static void codecs(List<Case> cases) {
    for (String codec : List.of("Default", "Deflate", "Gzip", "BZip2", "Snappy", "Lz4", "ZStandard")) {
      String name = codec.toLowerCase(java.util.Locale.ROOT);
      cases.add(counted("map-output/" + name).input(TextInput.words(3, 500))
          .mapOutput(codec));
    }
    for (String[] codec : new String[][] {{"Gzip", "gz"}, {"BZip2", "bz2"}, {"ZStandard", "zst"}}) {
      cases.add(compressed(codec[0], codec[1], "", 1));
      cases.add(compressed(codec[0], codec[1], "-of-members", 3));
      cases.add(Twin.cut(compressed(codec[0], codec[1], "-in-splits", 1), 3000));
    }
    cases.add(counted("input/mixed").input(TextInput.words(1, 100))
        .input(FileInput.of("text/b.gz", conf -> Codecs.compressed("Gzip", lines(200), conf)))
        .input(FileInput.of("text/c.bz2", conf -> Codecs.compressed("BZip2", lines(200), conf)))
        .counterMayDiffer("BYTES_READ", Twin.READ_AHEAD));
    cases.add(counted("input/gzip-of-nothing").input(FileInput.of("text/a.gz", conf -> Codecs.compressed("Gzip", new byte[0], conf))));
  }

  private static Case compressed(String codec, String extension, String name, int members) {
    Case.Input input = FileInput.of("text/a." + extension, conf -> {
      java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
      for (int member = 0; member < members; member++) {
        all.write(Codecs.compressed(codec, lines(1500 + member), conf));
      }
      return all.toByteArray();
    });
    return counted("input/" + codec.toLowerCase(java.util.Locale.ROOT) + name).input(input)
        .skippedIf(conf -> Codecs.obstacle(codec, conf));
  }

  private static byte[] lines(int n) {
    Random random = new Random(n);
    StringBuilder text = new StringBuilder();
    for (int line = 0; line < n; line++) {
      text.append("word").append(random.nextInt(300)).append(' ').append(random.nextInt(20)).append('\n');
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void texts(List<Case> cases) {
    StringBuilder all = new StringBuilder();
    Random random = new Random(9);
    for (int line = 0; line < 400; line++) {
      all.append("word".repeat(random.nextInt(4))).append(' ').append("Wörter 云梯").append(random.nextInt(30))
          .append(new String[] {"\n", "\r\n", "\r", "\n\n", "\r\r\n", "\n\r"}[random.nextInt(6)]);
    }
    String text = all.toString();
    cases.add(counted("lines/all-line-ends").input(FileInput.text("text/a.txt", text)));
    for (int bytes : new int[] {7, 64, 1000}) {
      // Other split positions, so that each byte of a line end is the last one of some split.
      Case cut = counted("lines/all-line-ends-cut-at-" + bytes).input(FileInput.text("text/a.txt", bytes == 7 ? text.substring(0, 700) : text));
      cases.add(Twin.cut(cut, bytes));
    }
    cases.add(counted("lines/without-final-newline").input(FileInput.text("text/a.txt", "one two\nthree")));
    cases.add(counted("lines/final-cr").input(FileInput.text("text/a.txt", "one two\r\nthree\r")));
    cases.add(counted("lines/byte-order-mark").input(FileInput.text("text/a.txt", "\ufefffirst line\nfirst again\n\ufefflater\n")));
    cases.add(Twin.cut(counted("lines/words-of-language-cut").input(TextInput.words(2, 500)), 1500));
    cases.add(Twin.of("lines/delimiter", "text", WordCounts::combined, FOLDER.with("input-format = \"text:|;\"")).order(Order.EXACT)
        .input(FileInput.text("text/a.txt", "a b|;c\nd|;|;e |f;|;".repeat(30) + "last")).set("textinputformat.record.delimiter", "|;"));
  }
}
