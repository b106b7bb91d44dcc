package org.yunti.hadoop.key;

import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.serializer.Serializer;
import org.yunti.hadoop.collect.RecordBatch;

/**
 * Normal forms for keys of Hive, Pig and Mahout. The plug-in has none of these libraries, so it matches names, and
 * reads numbers from the serialised key.
 *
 * <p>A name may stand for another class in a library's fork. The job's comparator therefore orders a few samples first.
 * If it disagrees with the normal form, there is none, and the comparator sorts the keys.
 */
final class LibraryKeys {
  private static final String HIVE = "org.apache.hadoop.hive.ql.io.HiveKey";

  /** Comparators of Pig's jobs without an order, which compare all serialised bytes of any key. */
  private static final Pattern PIG_BYTES =
      Pattern.compile(
          "org\\.apache\\.pig\\.backend\\.hadoop\\.executionengine\\.mapReduceLayer\\."
              + "(JobControlCompiler\\$Pig(?!Grouping)\\w+WritableComparator"
              + "|PigWritableComparators\\$Pig\\w+(RawBytes|SortBytes)(Partition)?Comparator)");

  /** Keys of Mahout that are one or two numbers in zigzag form, and in the order of these numbers. */
  private static final Set<String> MAHOUT_NUMBERS =
      new HashSet<>(
          Arrays.asList(
              "org.apache.mahout.math.VarIntWritable",
              "org.apache.mahout.math.VarLongWritable",
              "org.apache.mahout.cf.taste.hadoop.EntityEntityWritable"));

  private LibraryKeys() {}

  /** Returns the writer for a library's keys, or null for other keys or another order. */
  static <K> KeyWriter<?> find(Class<K> keyClass, RawComparator<?> comparator, Serializer<K> serializer) {
    String key = keyClass.getName();
    String order = comparator.getClass().getName();
    if (key.equals(HIVE) && order.equals(HIVE + "$Comparator")) {
      boolean agrees = writesBytes(keyClass) && agrees(comparator, 4, bytesOf("\0\0\0\0"));
      return agrees ? new KeyWriters.BytesWriter() : null;
    }
    if (PIG_BYTES.matcher(order).matches()) {
      return agrees(comparator, 0, bytesOf("\0", "\1")) ? new SameWriter<>(serializer) : null;
    }
    if (MAHOUT_NUMBERS.contains(key) && comparator.getClass() == WritableComparator.class) {
      return isOrderOfNumbers(comparator, key.endsWith("EntityEntityWritable") ? 2 : 1)
          ? new ZigzagWriter<>(serializer)
          : null;
    }
    return null;
  }

  /** Returns true if keys are serialised as BytesWritables. */
  private static boolean writesBytes(Class<?> keyClass) {
    try {
      return keyClass.getMethod("write", DataOutput.class).getDeclaringClass() == BytesWritable.class;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  private static byte[][] bytesOf(String... more) {
    String[] common = {"\0\0\0\1\0", "\0\0\0\1\u007f", "\0\0\0\1\u0080", "\0\0\0\1\u00ff", "\0\0\0\2\u007f\u00ff"};
    byte[][] samples = new byte[common.length + more.length][];
    for (int i = 0; i < samples.length; i++) {
      String sample = i < common.length ? common[i] : more[i - common.length];
      samples[i] = sample.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    }
    return samples;
  }

  /** Returns true if the comparator orders samples by their bytes, without the first {@code skipped}. */
  private static boolean agrees(RawComparator<?> comparator, int skipped, byte[][] samples) {
    for (byte[] a : samples) {
      for (byte[] b : samples) {
        int expected =
            WritableComparator.compareBytes(a, skipped, a.length - skipped, b, skipped, b.length - skipped);
        if (!hasSign(comparator, a, b, expected)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns true if the comparator orders zigzag numbers as numbers, the first one first. */
  private static boolean isOrderOfNumbers(RawComparator<?> comparator, int numbers) {
    int[] samples = {Integer.MIN_VALUE, -64, -1, 0, 1, 63, 64, Integer.MAX_VALUE};
    for (int a : samples) {
      for (int b : samples) {
        int expected = Integer.compare(a, b);
        boolean agrees =
            numbers == 1
                ? hasSign(comparator, zigzag(a), zigzag(b), expected)
                : hasSign(comparator, zigzag(a, b), zigzag(b, a), expected)
                    && hasSign(comparator, zigzag(7, a), zigzag(7, b), expected);
        if (!agrees) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean hasSign(RawComparator<?> comparator, byte[] a, byte[] b, int expected) {
    try {
      int order = comparator.compare(a, 0, a.length, b, 0, b.length);
      return Integer.signum(order) == Integer.signum(expected);
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** Returns numbers as Mahout's Varint writes them. */
  static byte[] zigzag(long... numbers) {
    byte[] bytes = new byte[10 * numbers.length];
    int end = 0;
    for (long number : numbers) {
      long rest = number << 1 ^ number >> 63;
      while ((rest & ~0x7fL) != 0) {
        bytes[end++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      bytes[end++] = (byte) rest;
    }
    return Arrays.copyOf(bytes, end);
  }

  /** Writer of keys whose serialised bytes are in order. */
  private static final class SameWriter<K> extends SerializedWriter<K> {
    SameWriter(Serializer<K> serializer) {
      super(KeyForm.SAME, null, serializer);
    }
  }

  /** Writer of zigzag numbers as eight bytes each. */
  private static final class ZigzagWriter<K> extends SerializedWriter<K> {
    private final long[] numbers = new long[2];

    ZigzagWriter(Serializer<K> serializer) {
      super(KeyForm.ZIGZAG, null, serializer);
    }

    @Override
    public int write(K key, RecordBatch to) throws IOException {
      int start = to.position();
      int own = super.write(key, to);
      int count = 0;
      long number = 0;
      int shift = 0;
      for (int at = start; at < start + own; at++) {
        byte b = to.byteAt(at);
        number |= (b & 0x7fL) << shift;
        shift += 7;
        if (b >= 0) {
          numbers[count++] = number >>> 1 ^ -(number & 1);
          number = 0;
          shift = 0;
        }
      }
      to.cutTo(start);
      for (int i = 0; i < count; i++) {
        to.putLong(numbers[i] ^ Long.MIN_VALUE);
      }
      return own;
    }
  }
}
