package org.yunti.hadoop.conformance.cases.keys;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.WritableComparable;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/**
 * Number keys. Edges are those of the types, and for variable-length types also those where the encoding grows by a
 * byte: their bytes do not sort like their values.
 */
public final class NumberKeys {
  private NumberKeys() {}

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    cases.add(of("int", IntWritable.class, NumberKeys::anyLong, v -> new IntWritable(v.intValue())).onCluster());
    cases.add(of("long", LongWritable.class, NumberKeys::anyLong, LongWritable::new));
    cases.add(of("vint", VIntWritable.class, NumberKeys::anyLong, v -> new VIntWritable(v.intValue())));
    cases.add(of("vlong", VLongWritable.class, NumberKeys::anyLong, VLongWritable::new));
    cases.add(of("short", ShortWritable.class, NumberKeys::anyLong, v -> new ShortWritable(v.shortValue())));
    cases.add(of("byte", ByteWritable.class, NumberKeys::anyLong, v -> new ByteWritable(v.byteValue())));
    cases.add(of("boolean", BooleanWritable.class, NumberKeys::anyLong, v -> new BooleanWritable((v & 1) == 0)));
    cases.add(of("float", FloatWritable.class, NumberKeys::anyFloat, FloatWritable::new));
    cases.add(of("double", DoubleWritable.class, NumberKeys::anyDouble, DoubleWritable::new));
    cases.add(of("null", NullWritable.class, NumberKeys::anyLong, v -> NullWritable.get()));
    cases.add(of("long-decreasing", LongWritable.class, NumberKeys::anyLong, LongWritable::new)
        .tweak(job -> job.setSortComparatorClass(LongWritable.DecreasingComparator.class)));
    return cases;
  }

  private static <N, K extends WritableComparable<?>> Case of(String type, Class<K> keyClass, Draw<N> numbers,
      Function<N, K> key) {
    Draw<K> keys = (random, record) -> key.apply(numbers.draw(random, record));
    Draw<BytesWritable> values = (random, record) -> BinaryKeys.bytes(random, random.nextInt(20));
    return Traced.of("keys/" + type, keyClass, keys, BytesWritable.class, values);
  }

  /** Draws every power of two, its neighbours and their negatives first: the edges of all widths and encodings. */
  private static Long anyLong(Random random, int record) {
    if (record < 64 * 6) {
      long power = (1L << (record / 6)) + record % 3 - 1;
      return record % 6 < 3 ? power : -power;
    }
    int bits = random.nextInt(64);
    return random.nextBoolean() ? random.nextLong() >> bits : random.nextLong() % 10;
  }

  private static Float anyFloat(Random random, int record) {
    float[] edges = {0f, -0f, Float.NaN, Float.intBitsToFloat(0x7f800001), Float.intBitsToFloat(0xffc00000),
        Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.MIN_VALUE, -Float.MIN_VALUE, Float.MAX_VALUE,
        -Float.MAX_VALUE, Float.MIN_NORMAL, 1f, -1f, Math.nextUp(1f)};
    boolean edge = record < edges.length || random.nextInt(3) == 0;
    return edge ? edges[record % edges.length] : Float.intBitsToFloat(random.nextInt());
  }

  private static Double anyDouble(Random random, int record) {
    double[] edges = {0d, -0d, Double.NaN, Double.longBitsToDouble(0x7ff0000000000001L),
        Double.longBitsToDouble(0xfff8000000000000L), Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
        Double.MIN_VALUE, -Double.MIN_VALUE, Double.MAX_VALUE, -Double.MAX_VALUE, Double.MIN_NORMAL, 1d, -1d,
        Math.nextUp(1d)};
    boolean edge = record < edges.length || random.nextInt(3) == 0;
    return edge ? edges[record % edges.length] : Double.longBitsToDouble(random.nextLong());
  }
}
