import com.sun.management.OperatingSystemMXBean;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.util.IndexedSortable;
import org.apache.hadoop.util.IndexedSorter;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.QuickSort;

/**
 * Map tasks of a job whose keys only its comparator can order: stock Hadoop against native code, which calls the
 * comparator. The figures are in docs/decisions/map-output-through-batches.md.
 *
 * <pre>
 *   OwnOrder RECORDS ROUNDS [ORDER ..]      records of 100 bytes, a Text of 10 random letters as key
 *
 *   stock     Hadoop's collector and its QuickSort
 *   unsorted  the same with a sort that does nothing: the cost outside the sort
 *   native    the native collector with this comparator
 *   known     the native collector with Text's own order, which needs no call
 * </pre>
 *
 * Each row is one order. Orders compare serialised bytes, or create objects of both keys and compare these, like a
 * comparator with only compareTo. The output is the minimum seconds of the process's processor time over the rounds,
 * from the first record to the end of the map.
 */
public final class OwnOrder {
  private static final int RECORD_BYTES = 100;
  private static final int KEY_BYTES = 11;

  private static final String STOCK = "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";
  private static final String NATIVE = "org.yunti.hadoop.collect.NativeMapOutputCollector";

  private static final List<Class<? extends WritableComparator>> ORDERS =
      List.of(Rising.class, Falling.class, FallingObjects.class, FromTheEnd.class, FromTheEndObjects.class);

  private OwnOrder() {}

  public static void main(String[] arguments) throws Exception {
    int records = Integer.parseInt(arguments[0]);
    int rounds = Integer.parseInt(arguments[1]);
    List<String> named = List.of(arguments).subList(2, arguments.length);
    for (Class<? extends WritableComparator> order : ORDERS) {
      if (!named.isEmpty() && !named.contains(order.getSimpleName())) {
        continue;
      }
      double[] map_s = {1e9, 1e9, 1e9, 1e9};
      for (int round = 0; round < rounds; round++) {
        map_s[0] = Math.min(map_s[0], mapTask(records, order, QuickSort.class, STOCK));
        map_s[1] = Math.min(map_s[1], mapTask(records, order, Unsorted.class, STOCK));
        map_s[2] = Math.min(map_s[2], mapTask(records, order, QuickSort.class, NATIVE));
        map_s[3] = Math.min(map_s[3], mapTask(records, Text.Comparator.class, QuickSort.class, NATIVE));
      }
      System.out.printf(Locale.ROOT, "%-18s stock %.3f s, unsorted %.3f s, native %.3f s (%.2f), known %.3f s (%.2f)%n",
          order.getSimpleName(), map_s[0], map_s[1], map_s[2], map_s[2] / map_s[0], map_s[3], map_s[3] / map_s[0]);
    }
  }

  private static byte[] records(int records) {
    byte[] bytes = new byte[records * RECORD_BYTES];
    Random random = new Random(1);
    random.nextBytes(bytes);
    for (int start = 0; start < bytes.length; start += RECORD_BYTES) {
      bytes[start] = KEY_BYTES - 1;
      for (int i = 1; i < KEY_BYTES; i++) {
        bytes[start + i] = (byte) ('a' + random.nextInt(26));
      }
    }
    return bytes;
  }

  private static int skip(byte[] key, int start) {
    return WritableUtils.decodeVIntSize(key[start]);
  }

  /** Text's own order, under another name. */
  public static class Rising extends WritableComparator {
    public Rising() {
      super(Text.class);
    }

    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      int skipA = skip(a, startA);
      int skipB = skip(b, startB);
      return compareBytes(a, startA + skipA, lengthA - skipA, b, startB + skipB, lengthB - skipB);
    }
  }

  /** The descending order. */
  public static final class Falling extends Rising {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return super.compare(b, startB, lengthB, a, startA, lengthA);
    }
  }

  /** The descending order, as a comparison of objects. */
  public static final class FallingObjects extends WritableComparator {
    public FallingObjects() {
      super(Text.class, true);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable a, WritableComparable b) {
      return ((Text) b).compareTo((Text) a);
    }
  }

  /** The order from the last letter to the first, which is far from the order of the bytes. */
  public static final class FromTheEnd extends WritableComparator {
    public FromTheEnd() {
      super(Text.class);
    }

    static int compareEnds(byte[] a, int endA, byte[] b, int endB, int length) {
      for (int i = 1; i <= length; i++) {
        if (a[endA - i] != b[endB - i]) {
          return a[endA - i] < b[endB - i] ? -1 : 1;
        }
      }
      return 0;
    }

    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return compareEnds(a, startA + lengthA, b, startB + lengthB, KEY_BYTES - 1);
    }
  }

  /** The same order, as a comparison of objects. */
  public static final class FromTheEndObjects extends WritableComparator {
    public FromTheEndObjects() {
      super(Text.class, true);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public int compare(WritableComparable a, WritableComparable b) {
      Text textA = (Text) a;
      Text textB = (Text) b;
      return FromTheEnd.compareEnds(
          textA.getBytes(), textA.getLength(), textB.getBytes(), textB.getLength(), KEY_BYTES - 1);
    }
  }

  private static long processNs() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  // A map task.

  /** Returns the processor time of a map task that sorts and writes its output once. */
  private static double mapTask(
      int records, Class<? extends WritableComparator> comparator, Class<? extends IndexedSorter> sorter,
      String collector) throws Exception {
    System.gc();
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.setInt("mapreduce.client.completion.pollinterval", 50);
    conf.set("hadoop.tmp.dir", new File("tmp").getAbsolutePath());
    // Room for all records and what either side keeps for each.
    conf.setInt("mapreduce.task.io.sort.mb", records / 6000 + 8);
    conf.setInt("mapreduce.map.sort.spill.percent", 1);
    conf.setInt(Drawn.RECORDS, records);
    conf.set("mapreduce.job.map.output.collector.class", collector);
    conf.setClass("map.sort.class", sorter, IndexedSorter.class);
    Job job = Job.getInstance(conf);
    job.setInputFormatClass(Drawn.class);
    job.setMapperClass(Mapper.class);
    job.setSortComparatorClass(comparator);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Value.class);
    job.setReducerClass(End.class);
    job.setOutputFormatClass(Measured.class);
    if (!job.waitForCompletion(false)) {
      throw new IOException("the job failed");
    }
    // The local runner keeps the output of each map.
    FileUtil.fullyDelete(new File("tmp"));
    return Measured.map_ns / 1e9;
  }

  /** Sorter that changes nothing. */
  public static final class Unsorted implements IndexedSorter {
    @Override
    public void sort(IndexedSortable s, int l, int r) {}

    @Override
    public void sort(IndexedSortable s, int l, int r, Progressable progress) {}
  }

  /** Output that takes no records. The query for a commit ends the task, so it reads the clock. */
  public static final class Measured extends NullOutputFormat<Text, Value> {
    static volatile long start_ns;
    static volatile long map_ns;

    @Override
    public OutputCommitter getOutputCommitter(TaskAttemptContext context) {
      return new OutputCommitter() {
        @Override
        public boolean needsTaskCommit(TaskAttemptContext task) {
          if (task.getTaskAttemptID().getTaskType() == TaskType.MAP) {
            map_ns = processNs() - start_ns;
          }
          return false;
        }

        @Override
        public void setupJob(JobContext job) {}

        @Override
        public void setupTask(TaskAttemptContext task) {}

        @Override
        public void commitTask(TaskAttemptContext task) {}

        @Override
        public void abortTask(TaskAttemptContext task) {}
      };
    }
  }

  /** Input of one split with generated records, because a costlier input would make the sort a smaller part. */
  public static final class Drawn extends InputFormat<Text, Value> {
    static final String RECORDS = "own.order.records";

    /** Split without a location. */
    public static final class Split extends InputSplit implements Writable {
      @Override
      public long getLength() {
        return 0;
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

    @Override
    public List<InputSplit> getSplits(JobContext context) {
      return List.of(new Split());
    }

    @Override
    public RecordReader<Text, Value> createRecordReader(InputSplit split, TaskAttemptContext context) {
      byte[] bytes = records(1 << 16);
      int count = context.getConfiguration().getInt(RECORDS, 0);
      return new RecordReader<>() {
        private final Text key = new Text();
        private final Value value = new Value();
        private final SplittableRandom random = new SplittableRandom(1);
        private int read;

        @Override
        public void initialize(InputSplit of, TaskAttemptContext task) {
          Measured.start_ns = processNs();
        }

        @Override
        public boolean nextKeyValue() {
          // Halves of two keys give as many different keys as records.
          int half = (KEY_BYTES - 1) / 2;
          int start = random.nextInt(1 << 16) * RECORD_BYTES + 1;
          key.set(bytes, start, 2 * half);
          System.arraycopy(bytes, random.nextInt(1 << 16) * RECORD_BYTES + 1, key.getBytes(), half, half);
          return read++ < count;
        }

        @Override
        public Text getCurrentKey() {
          return key;
        }

        @Override
        public Value getCurrentValue() {
          return value;
        }

        @Override
        public float getProgress() {
          return (float) read / count;
        }

        @Override
        public void close() {}
      };
    }
  }

  /** Output that discards everything. */
  public static final class End extends Reducer<Text, Value, Text, Value> {
    @Override
    public void run(Context context) {}
  }

  /** Value of 89 bytes. */
  public static final class Value implements Writable {
    private final byte[] bytes = new byte[RECORD_BYTES - KEY_BYTES];

    @Override
    public void write(DataOutput out) throws IOException {
      out.write(bytes);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      in.readFully(bytes);
    }
  }
}
