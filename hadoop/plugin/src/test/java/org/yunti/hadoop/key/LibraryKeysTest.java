package org.yunti.hadoop.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.hadoop.hive.ql.io.HiveKey;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.mahout.cf.taste.hadoop.EntityEntityWritable;
import org.apache.mahout.math.VarIntWritable;
import org.apache.mahout.math.VarLongWritable;
import org.apache.pig.backend.hadoop.executionengine.mapReduceLayer.JobControlCompiler;
import org.apache.pig.backend.hadoop.executionengine.mapReduceLayer.PigTextRawComparator;
import org.apache.pig.impl.io.NullableDoubleWritable;
import org.apache.pig.impl.io.NullableLongWritable;
import org.apache.pig.impl.io.NullableText;
import org.apache.pig.impl.io.PigNullableWritable;
import org.junit.jupiter.api.Test;
import org.yunti.hadoop.collect.RecordBatch;

/** Normal forms of the keys of Hive, Pig and Mahout against the comparators of these libraries. */
class LibraryKeysTest {
  private static final long[] NUMBERS = {
    Long.MIN_VALUE, Integer.MIN_VALUE, -65, -64, -1, 0, 1, 63, 64, 8191, 8192, Integer.MAX_VALUE, Long.MAX_VALUE
  };

  private final Random random = new Random(4);

  private static byte[] serialised(Writable key) throws IOException {
    DataOutputBuffer to = new DataOutputBuffer();
    key.write(to);
    return Arrays.copyOf(to.getData(), to.getLength());
  }

  /** Compares all pairs of keys in normal form, and by the comparator. */
  private static <K extends Writable> void check(
      KeyForm form, Class<K> keyClass, RawComparator<?> comparator, int count, Supplier<K> draw) throws IOException {
    KeyWriter<K> writer = KeyWriters.find(new JobConf(), keyClass, comparator, KeyWriters.Use.MAP);
    assertEquals(form, writer.form, keyClass.getName());
    assertNull(writer.code, keyClass.getName() + " needs no comparator");
    List<byte[]> keys = new ArrayList<>();
    List<byte[]> normals = new ArrayList<>();
    RecordBatch batch = new RecordBatch(64);
    for (int i = 0; i < count; i++) {
      K key = draw.get();
      byte[] own = serialised(key);
      int start = batch.position();
      assertEquals(own.length, writer.write(key, batch));
      keys.add(own);
      normals.add(Arrays.copyOfRange(batch.bytes(), start, batch.position()));
    }
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++) {
        byte[] a = keys.get(i);
        byte[] b = keys.get(j);
        int expected = comparator.compare(a, 0, a.length, b, 0, b.length);
        int found = Arrays.compareUnsigned(normals.get(i), normals.get(j));
        assertEquals(Integer.signum(expected), Integer.signum(found), keyClass.getName() + " " + i + " " + j);
      }
    }
  }

  private long number() {
    return random.nextBoolean() ? NUMBERS[random.nextInt(NUMBERS.length)] : random.nextLong() >> random.nextInt(64);
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(6)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (random.nextInt(4) * 85);
    }
    return bytes;
  }

  @Test
  void keysOfHive() throws IOException {
    check(KeyForm.BYTES, HiveKey.class, WritableComparator.get(HiveKey.class), 300, () -> new HiveKey(bytes()));
  }

  @Test
  void keysOfMahout() throws IOException {
    check(
        KeyForm.ZIGZAG,
        VarIntWritable.class,
        WritableComparator.get(VarIntWritable.class),
        200,
        () -> new VarIntWritable((int) number()));
    check(
        KeyForm.ZIGZAG,
        VarLongWritable.class,
        WritableComparator.get(VarLongWritable.class),
        200,
        () -> new VarLongWritable(number()));
    check(
        KeyForm.ZIGZAG,
        EntityEntityWritable.class,
        WritableComparator.get(EntityEntityWritable.class),
        200,
        () -> new EntityEntityWritable(number() % 3, number()));
  }

  private <K extends PigNullableWritable> K index(K key) {
    key.setNull(random.nextInt(5) == 0);
    // The highest bit marks several queries in one job.
    key.setIndex((byte) (random.nextInt(3) | random.nextInt(2) << 7));
    return key;
  }

  @Test
  void keysOfPigWithoutAnOrder() throws IOException {
    check(
        KeyForm.SAME,
        NullableText.class,
        new JobControlCompiler.PigCharArrayWritableComparator(),
        200,
        () -> index(new NullableText(new String(bytes(), java.nio.charset.StandardCharsets.ISO_8859_1))));
    check(
        KeyForm.SAME,
        NullableLongWritable.class,
        new JobControlCompiler.PigLongWritableComparator(),
        200,
        () -> index(new NullableLongWritable(number())));
    check(
        KeyForm.SAME,
        NullableDoubleWritable.class,
        new JobControlCompiler.PigDoubleWritableComparator(),
        200,
        () -> index(new NullableDoubleWritable(random.nextInt(4) == 0 ? Double.NaN : number() / 8.0)));
  }

  @Test
  void otherOrdersOfPigNeedTheirComparator() throws IOException {
    PigTextRawComparator order = new PigTextRawComparator();
    order.setConf(new JobConf());
    assertNotNull(
        KeyWriters.find(new JobConf(), NullableText.class, order, KeyWriters.Use.MAP).code);
  }

  /** Comparator with Hive's key class, but of another order. */
  public static final class Fork extends WritableComparator {
    Fork() {
      super(HiveKey.class);
    }
  }

  @Test
  void anotherOrderOfAKnownKeyNeedsItsComparator() throws IOException {
    assertNotNull(KeyWriters.find(new JobConf(), HiveKey.class, new Fork(), KeyWriters.Use.MAP).code);
  }
}
