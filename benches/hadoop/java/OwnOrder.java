import java.io.DataInput;
import java.io.DataOutput;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.RawComparator;
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
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Possible gain of native code for a job whose keys have the user's own order: a RawComparator without a normaliser.
 * The figures are in docs/decisions/map-output-through-batches.md.
 *
 * <pre>
 *   OwnOrder RECORDS ROUNDS bytes|objects      records of 100 bytes, a Text of 10 random letters as key
 *
 *   heap     the sort of Hadoop's collector: QuickSort over positions, compare() on one byte[] in the heap
 *   batches  merge sort of records outside the heap. One call compares keys of many pairs of runs: advanced keys are
 *            copied into the heap, and the results are copied back
 *   map      a map task of stock Hadoop with this comparator; the same task with a sort that does nothing, for the cost
 *            outside the sort; and a task of the plug-in with Text's own order, for its cost outside the sort
 * </pre>
 *
 * The comparator compares bytes, or creates objects of both keys and compares these, like a comparator with only
 * compareTo. The output is the minimum seconds of processor time over the rounds. The plug-in contains nothing of this.
 */
public final class OwnOrder {
  private static final int RECORD_BYTES = 100;
  private static final int KEY_BYTES = 11;

  private static final String STOCK = "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";
  private static final String NATIVE = "org.yunti.hadoop.collect.NativeMapOutputCollector";

  private static int rounds;
  private static Class<? extends WritableComparator> comparator;

  private OwnOrder() {}

  public static void main(String[] arguments) throws Exception {
    int records = Integer.parseInt(arguments[0]);
    rounds = Integer.parseInt(arguments[1]);
    comparator = (arguments[2].equals("objects") ? FallingObjects.class : Falling.class);
    byte[] heap = records(records);
    double heap_s = least(() -> new HeapSort(heap, records).run());
    ByteBuffer outside = ByteBuffer.allocateDirect(heap.length).put(heap);
    // Number of lanes, the comparisons in one call.
    for (int lanes : new int[] {64, 512}) {
      BatchSort once = new BatchSort(outside, records, lanes);
      once.run();
      new HeapSort(heap, records).check(once.order);
      double batch_s = least(() -> new BatchSort(outside, records, lanes).run());
      System.out.printf(Locale.ROOT, "batches of %d: %.3f s, %.1f comparisons a record%n", lanes, batch_s,
          (double) once.comparisons / records);
    }
    System.out.printf(Locale.ROOT, "in the heap: %.3f s, %.1f comparisons a record%n", heap_s,
        (double) HeapSort.comparisons / records);
    double[] map_s = {1e9, 1e9, 1e9};
    for (int round = 0; round < rounds; round++) {
      map_s[0] = Math.min(map_s[0], mapTask(records, comparator, QuickSort.class, STOCK));
      map_s[1] = Math.min(map_s[1], mapTask(records, comparator, Unsorted.class, STOCK));
      map_s[2] = Math.min(map_s[2], mapTask(records, Text.Comparator.class, QuickSort.class, NATIVE));
    }
    System.out.printf(Locale.ROOT,
        "map task of stock %.3f s, without its sort %.3f s; native, with an order that it knows, %.3f s%n", map_s[0],
        map_s[1], map_s[2]);
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

  private static double least(Runnable sort) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < rounds; round++) {
      System.gc();
      long before = threads.getCurrentThreadCpuTime();
      sort.run();
      least = Math.min(least, threads.getCurrentThreadCpuTime() - before);
    }
    return least / 1e9;
  }

  /** The user's order: descending. */
  public static final class Falling extends WritableComparator {
    public Falling() {
      super(Text.class);
    }

    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      int skipA = WritableUtils.decodeVIntSize(a[startA]);
      int skipB = WritableUtils.decodeVIntSize(b[startB]);
      return compareBytes(b, startB + skipB, lengthB - skipB, a, startA + skipA, lengthA - skipA);
    }
  }

  /** The same order, as a comparison of objects. */
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

  /** Sort like MapTask$MapOutputBuffer: it swaps 16 bytes of positions per record. */
  private static final class HeapSort implements IndexedSortable, Runnable {
    static long comparisons;

    private final byte[] bytes;
    private final int records;
    private final int[] meta;
    private final byte[] swapped = new byte[16];
    private final RawComparator<?> comparator = ReflectionUtils.newInstance(OwnOrder.comparator, null);

    HeapSort(byte[] bytes, int records) {
      this.bytes = bytes;
      this.records = records;
      meta = new int[records * 4];
    }

    @Override
    public void run() {
      for (int i = 0; i < records; i++) {
        meta[i * 4] = RECORD_BYTES - KEY_BYTES;
        meta[i * 4 + 1] = i * RECORD_BYTES;
        meta[i * 4 + 2] = i * RECORD_BYTES + KEY_BYTES;
        meta[i * 4 + 3] = 0;
      }
      comparisons = 0;
      new QuickSort().sort(this, 0, records);
    }

    @Override
    public int compare(int i, int j) {
      comparisons++;
      int a = i * 4;
      int b = j * 4;
      if (meta[a + 3] != meta[b + 3]) {
        return meta[a + 3] - meta[b + 3];
      }
      return comparator.compare(bytes, meta[a + 1], meta[a + 2] - meta[a + 1], bytes, meta[b + 1],
          meta[b + 2] - meta[b + 1]);
    }

    @Override
    public void swap(int i, int j) {
      for (int k = 0; k < 4; k++) {
        int kept = meta[i * 4 + k];
        meta[i * 4 + k] = meta[j * 4 + k];
        meta[j * 4 + k] = kept;
      }
    }

    void check(int[] order) {
      for (int i = 1; i < order.length; i++) {
        int before = order[i - 1] * RECORD_BYTES;
        if (comparator.compare(bytes, before, KEY_BYTES, bytes, order[i] * RECORD_BYTES, KEY_BYTES) > 0) {
          throw new IllegalStateException("out of order at " + i);
        }
      }
    }
  }

  /**
   * Merge sort by rounds. Each pair of runs in a round needs one comparison at a time, so a call has one per pair. With
   * fewer pairs than lanes, each pair is cut into independent pieces: at a position in the first run, and at the
   * matching position in the second, found by bisection. Those comparisons are counted and few. Keys move with the
   * numbers of their records, so only the first read is not sequential in memory. Fetching keys from the records each
   * time took 1.3 s instead of this sort's time.
   *
   * <pre>
   *   entry: | key: 11 | 0 | number of the record: u32 |
   * </pre>
   */
  private static final class BatchSort implements Runnable {
    private static final int ENTRY_BYTES = 16;
    private static final int NUMBER_AT = 12;
    private static final int SLOT_BYTES = 2 * ENTRY_BYTES;

    final int[] order;
    long comparisons;

    private final ByteBuffer records;
    private final int count;
    private final int lanes;
    private final RawComparator<?> comparator = ReflectionUtils.newInstance(OwnOrder.comparator, null);
    private ByteBuffer from;
    private ByteBuffer to;
    // Positions of each lane: in both runs, their ends, and the output.
    private final int[] a;
    private final int[] aEnd;
    private final int[] b;
    private final int[] bEnd;
    private final int[] out;
    /** Both entries of each lane, outside the heap and as the comparator's copy in the heap; likewise the results. */
    private final ByteBuffer slots;

    private final byte[] slotsInHeap;
    private final ByteBuffer answers;
    private final byte[] answersInHeap;
    private final byte[] one = new byte[ENTRY_BYTES];
    private final byte[] other = new byte[ENTRY_BYTES];

    BatchSort(ByteBuffer records, int count, int lanes) {
      this.records = records;
      this.count = count;
      this.lanes = lanes;
      order = new int[count];
      from = outside(count * ENTRY_BYTES);
      to = outside(count * ENTRY_BYTES);
      a = new int[lanes];
      aEnd = new int[lanes];
      b = new int[lanes];
      bEnd = new int[lanes];
      out = new int[lanes];
      slotsInHeap = new byte[lanes * SLOT_BYTES];
      slots = outside(slotsInHeap.length);
      answersInHeap = new byte[lanes];
      answers = outside(lanes);
    }

    private static ByteBuffer outside(int bytes) {
      return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    @Override
    public void run() {
      for (int i = 0; i < count; i++) {
        from.put(i * ENTRY_BYTES, records, i * RECORD_BYTES, KEY_BYTES);
        from.putInt(i * ENTRY_BYTES + NUMBER_AT, i);
      }
      for (int width = 1; width < count; width *= 2) {
        round(width);
        ByteBuffer spare = from;
        from = to;
        to = spare;
      }
      for (int i = 0; i < count; i++) {
        order[i] = from.getInt(i * ENTRY_BYTES + NUMBER_AT);
      }
    }

    private void round(int width) {
      int pairs = (count + 2 * width - 1) / (2 * width);
      int pieces = Math.max(1, Math.min(width / 16, 4 * lanes / pairs));
      int active = 0;
      for (int pair = 0; pair < pairs; pair++) {
        int start = pair * 2 * width;
        int middle = Math.min(count, start + width);
        int end = Math.min(count, start + 2 * width);
        int atA = start;
        int atB = middle;
        for (int piece = 1; piece <= pieces; piece++) {
          int endA = piece == pieces ? middle : start + (int) ((long) (middle - start) * piece / pieces);
          int endB = piece == pieces ? end : place(endA, atB, end);
          if (active == lanes) {
            active = drain(active, lanes - 1);
          }
          active = enter(active, atA, endA, atB, endB, atA + atB - middle);
          atA = endA;
          atB = endB;
        }
      }
      drain(active, 0);
    }

    /** Adds a lane. A lane of a single run needs no comparisons and ends at once. */
    private int enter(int lane, int atA, int endA, int atB, int endB, int at) {
      if (atA == endA || atB == endB) {
        rest(atA, endA, at);
        rest(atB, endB, at + endA - atA);
        return lane;
      }
      a[lane] = atA;
      aEnd[lane] = endA;
      b[lane] = atB;
      bEnd[lane] = endB;
      out[lane] = at;
      copy(from, atA, slots, 2 * lane);
      copy(from, atB, slots, 2 * lane + 1);
      return lane + 1;
    }

    private static void copy(ByteBuffer source, int entry, ByteBuffer target, int place) {
      target.putLong(place * ENTRY_BYTES, source.getLong(entry * ENTRY_BYTES));
      target.putLong(place * ENTRY_BYTES + 8, source.getLong(entry * ENTRY_BYTES + 8));
    }

    private void rest(int start, int end, int at) {
      to.put(at * ENTRY_BYTES, from, start * ENTRY_BYTES, (end - start) * ENTRY_BYTES);
    }

    /** Merges until at most {@code left} lanes remain. */
    private int drain(int active, int left) {
      while (active > left) {
        slots.get(0, slotsInHeap, 0, active * SLOT_BYTES);
        compare(active);
        answers.put(0, answersInHeap, 0, active);
        active = advance(active);
      }
      return active;
    }

    /** Runs the user's code, in the place of a call from native code. */
    private void compare(int active) {
      comparisons += active;
      for (int lane = 0; lane < active; lane++) {
        int slot = lane * SLOT_BYTES;
        int order = comparator.compare(slotsInHeap, slot, KEY_BYTES, slotsInHeap, slot + ENTRY_BYTES, KEY_BYTES);
        answersInHeap[lane] = (byte) (order <= 0 ? 0 : 1);
      }
    }

    private int advance(int active) {
      for (int lane = active - 1; lane >= 0; lane--) {
        if (answers.get(lane) == 0) {
          copy(slots, 2 * lane, to, out[lane]++);
          if (++a[lane] < aEnd[lane]) {
            copy(from, a[lane], slots, 2 * lane);
            continue;
          }
        } else {
          copy(slots, 2 * lane + 1, to, out[lane]++);
          if (++b[lane] < bEnd[lane]) {
            copy(from, b[lane], slots, 2 * lane + 1);
            continue;
          }
        }
        rest(a[lane], aEnd[lane], out[lane]);
        rest(b[lane], bEnd[lane], out[lane] + aEnd[lane] - a[lane]);
        move(--active, lane);
      }
      return active;
    }

    private void move(int source, int lane) {
      a[lane] = a[source];
      aEnd[lane] = aEnd[source];
      b[lane] = b[source];
      bEnd[lane] = bEnd[source];
      out[lane] = out[source];
      copy(slots, 2 * source, slots, 2 * lane);
      copy(slots, 2 * source + 1, slots, 2 * lane + 1);
    }

    /** Returns the position of the entry at {@code at} in the run [{@code low}, {@code high}), before its equals. */
    private int place(int at, int low, int high) {
      from.get(at * ENTRY_BYTES, one);
      while (low < high) {
        int middle = (low + high) >>> 1;
        from.get(middle * ENTRY_BYTES, other);
        comparisons++;
        if (comparator.compare(other, 0, KEY_BYTES, one, 0, KEY_BYTES) < 0) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }
  }

  // A map task of stock Hadoop.

  /** Returns the processor time of the map task's thread, which also sorts and writes its single spill. */
  private static double mapTask(
      int records, Class<? extends WritableComparator> comparator, Class<? extends IndexedSorter> sorter,
      String collector) throws Exception {
    System.gc();
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", new File("tmp").getAbsolutePath());
    conf.setInt("mapreduce.task.io.sort.mb", records / 8192 + 8);
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
    return Measured.map_ns / 1e9;
  }

  /** Sorter that changes nothing. */
  public static final class Unsorted implements IndexedSorter {
    @Override
    public void sort(IndexedSortable s, int l, int r) {}

    @Override
    public void sort(IndexedSortable s, int l, int r, Progressable progress) {}
  }

  /** Output that takes no records. The query for a commit ends the task, so it reads the clock of the map's thread. */
  public static final class Measured extends NullOutputFormat<Text, Value> {
    static volatile long map_ns;

    @Override
    public OutputCommitter getOutputCommitter(TaskAttemptContext context) {
      return new OutputCommitter() {
        @Override
        public boolean needsTaskCommit(TaskAttemptContext task) {
          if (task.getTaskAttemptID().getTaskType() == TaskType.MAP) {
            map_ns = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
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
        public void initialize(InputSplit of, TaskAttemptContext task) {}

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
