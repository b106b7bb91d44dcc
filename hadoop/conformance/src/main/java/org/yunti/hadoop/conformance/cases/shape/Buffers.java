package org.yunti.hadoop.conformance.cases.shape;

import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/** Records against the sort buffer: spills, merges of spills, and records that do not fit. */
public final class Buffers {
  private static final int MEGABYTE = 1 << 20;
  static final String OVERSIZED =
      "stock Hadoop does not count the bytes of a record that it writes past the buffer";
  private static final Draw<Text> KEYS = (random, record) -> new Text("key" + random.nextInt(500));
  private static final Draw<IntWritable> NUMBERS = (random, record) -> new IntWritable(random.nextInt());

  private Buffers() {}

  public static List<Case> cases() {
    return List.of(
        spilling("shape/many-spills", 0.02, 10),
        spilling("shape/many-spills-factor-2", 0.02, 2),
        spilling("shape/many-spills-factor-3", 0.02, 3),
        spilling("shape/spill-at-100-percent", 1.0, 10),
        spilling("shape/spill-index-on-disk", 0.02, 10).set("mapreduce.task.index.cache.limit.bytes", 30),
        spilling("shape/many-spills-heap-sort", 0.02, 10)
            .set("map.sort.class", org.apache.hadoop.util.HeapSort.class.getName()),
        // 8 KB records and a limit of 10 KB: nearly every record spills.
        Traced.of("shape/spill-every-record", Text.class, KEYS, BytesWritable.class, values(8000), 2, 60)
            .set("mapreduce.task.io.sort.mb", 1).set("mapreduce.map.sort.spill.percent", "0.01")
            .set("mapreduce.task.io.sort.factor", 4),
        // Records of one to two thirds of the buffer, which wrap around its end.
        Traced.of("shape/records-near-buffer-size", Text.class, KEYS, BytesWritable.class,
            (random, record) -> block(random, MEGABYTE / 3 + random.nextInt(MEGABYTE / 3)), 2, 12)
            .set("mapreduce.task.io.sort.mb", 1)
            .counterMayDiffer("MAP_OUTPUT_BYTES", OVERSIZED),
        Traced.of("shape/records-above-buffer-size", Text.class, KEYS, BytesWritable.class,
            (random, record) -> block(random, record % 2 == 0 ? 2 * MEGABYTE : 100), 2, 12)
            .set("mapreduce.task.io.sort.mb", 1)
            .counterMayDiffer("MAP_OUTPUT_BYTES", OVERSIZED),
        hugeValue("shape/huge-value-buffer-1mb", 1, 20).counterMayDiffer("MAP_OUTPUT_BYTES", OVERSIZED),
        hugeValue("shape/huge-value-buffer-16mb", 16, 20).counterMayDiffer("MAP_OUTPUT_BYTES", OVERSIZED),
        hugeValue("shape/huge-value-buffer-48mb", 48, 20),
        hugeKey("shape/huge-key-buffer-1mb", 1).counterMayDiffer("MAP_OUTPUT_BYTES", OVERSIZED),
        hugeKey("shape/huge-key-buffer-48mb", 48),
        hugeValue("shape/huge-value-gzip", 1, 3).counterMayDiffer("MAP_OUTPUT_BYTES", OVERSIZED)
            .mapOutput("Gzip"),
        Traced.of("shape/reduce-merges-on-disk", Text.class, KEYS, BytesWritable.class, values(200), 9, 100)
            .set("mapreduce.reduce.memory.totalbytes", 1000)
            .set("mapreduce.task.io.sort.factor", 2),
        Traced.of("shape/reduce-keeps-in-memory", Text.class, KEYS, BytesWritable.class, values(200), 3, 300)
            .set("mapreduce.reduce.input.buffer.percent", "0.7"),
        Traced.of("shape/encrypted", Text.class, KEYS, IntWritable.class, NUMBERS)
            .set("mapreduce.job.encrypted-intermediate-data", true).mayDecline("encrypt"));
  }

  private static Case spilling(String name, double limit, int factor) {
    return Traced.of(name, Text.class, KEYS, IntWritable.class, NUMBERS, 2, 12_000)
        .set("mapreduce.task.io.sort.mb", 1)
        .set("mapreduce.map.sort.spill.percent", limit)
        .set("mapreduce.task.io.sort.factor", factor);
  }

  private static Draw<BytesWritable> values(int lengthMax) {
    return (random, record) -> block(random, random.nextInt(lengthMax));
  }

  /** One huge value between small ones. */
  private static Case hugeValue(String name, int buffer_mb, int value_mb) {
    return Traced.of(name, Text.class, KEYS, BytesWritable.class,
        (random, record) -> block(random, record == 20 ? value_mb * MEGABYTE : random.nextInt(50)), 1, 40)
        .set("mapreduce.task.io.sort.mb", buffer_mb);
  }

  /** Returns a case with one key of 20 MB between small ones, some of which are its prefixes. */
  private static Case hugeKey(String name, int buffer_mb) {
    return Traced.of(name, BytesWritable.class, Buffers::keyPerhapsHuge, IntWritable.class, NUMBERS, 1, 40)
        .set("mapreduce.task.io.sort.mb", buffer_mb);
  }

  /** Returns incompressible noise. */
  private static BytesWritable block(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return new BytesWritable(bytes);
  }

  private static BytesWritable keyPerhapsHuge(Random random, int record) {
    byte[] key = new byte[record == 20 ? 20 * MEGABYTE : random.nextInt(50)];
    java.util.Arrays.fill(key, (byte) 'k');
    return new BytesWritable(key);
  }
}
