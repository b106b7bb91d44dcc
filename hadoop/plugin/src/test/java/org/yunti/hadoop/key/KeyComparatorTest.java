package org.yunti.hadoop.key;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.io.RawComparator;
import org.junit.jupiter.api.Test;

/** Sort and merge of keys by a comparator: as a stable sort, and complete if the comparator contradicts itself. */
class KeyComparatorTest {
  /** Comparator of keys of one byte. */
  private interface OfBytes extends RawComparator<Object> {
    int order(byte a, byte b);

    @Override
    default int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      assertEquals(1, lengthA);
      assertEquals(1, lengthB);
      return order(a[startA], b[startB]);
    }

    @Override
    default int compare(Object a, Object b) {
      throw new UnsupportedOperationException();
    }
  }

  private static byte[] draw(Random random, int count, int kind) {
    byte[] keys = new byte[count];
    random.nextBytes(keys);
    if (kind > 0) {
      Arrays.sort(keys);
    }
    for (int i = 0; kind == 2 && i < count / 2; i++) {
      byte swapped = keys[i];
      keys[i] = keys[count - 1 - i];
      keys[count - 1 - i] = swapped;
    }
    for (int i = 0; kind == 3 && i < count; i += 50) {
      keys[i] = (byte) random.nextInt();
    }
    return keys;
  }

  private static int[] ends(int count) {
    return IntStream.rangeClosed(1, count).toArray();
  }

  /** Returns the order of a stable sort. */
  private static int[] expected(byte[] keys, OfBytes comparator) {
    return IntStream.range(0, keys.length)
        .boxed()
        .sorted((i, j) -> comparator.order(keys[i], keys[j]))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  @Test
  void sortsAsAStableSort() {
    Random random = new Random(1);
    OfBytes ascending = (a, b) -> Byte.compare(a, b);
    OfBytes descending = (a, b) -> Byte.compare(b, a);
    OfBytes byLowBits = (a, b) -> Integer.compare(a & 7, b & 7);
    for (OfBytes order : Arrays.asList(ascending, descending, byLowBits)) {
      for (int round = 0; round < 400; round++) {
        byte[] keys = draw(random, random.nextInt(300), round % 4);
        assertArrayEquals(expected(keys, order), new KeyComparator(order).sort(keys, ends(keys.length)));
      }
    }
  }

  @Test
  void comparesSortedKeysOnce() {
    byte[] keys = new byte[250];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = (byte) (i - 128);
    }
    for (int sign = -1; sign <= 1; sign += 2) {
      int direction = sign;
      int[] comparisons = {0};
      OfBytes order = (a, b) -> {
        comparisons[0]++;
        return direction * Byte.compare(a, b);
      };
      int[] sorted = new KeyComparator(order).sort(keys, ends(keys.length));
      assertEquals(direction > 0 ? 0 : keys.length - 1, sorted[0]);
      assertEquals(keys.length - 1, comparisons[0]);
    }
  }

  /** Merges sorted sources through windows of a few keys; returns the keys as they come. */
  private static byte[] merged(KeyComparator comparator, List<byte[]> sources, Random random) {
    KeyMerge merge = comparator.merge(sources.size());
    int[] given = new int[sources.size()];
    int[] taken = new int[sources.size()];
    int total = sources.stream().mapToInt(source -> source.length).sum();
    byte[] result = new byte[total];
    int at = 0;
    for (int s = 0; s < sources.size(); s++) {
      putNext(merge, s, sources.get(s), given, random);
    }
    for (int[] sequence = merge.next(); sequence.length > 0; sequence = merge.next()) {
      for (int source : sequence) {
        result[at++] = sources.get(source)[taken[source]++];
      }
      int starved = sequence[sequence.length - 1];
      assertEquals(given[starved], taken[starved], "a window is at its end");
      putNext(merge, starved, sources.get(starved), given, random);
    }
    assertEquals(total, at);
    assertTrue(IntStream.range(0, sources.size()).allMatch(s -> taken[s] == sources.get(s).length));
    return result;
  }

  private static void putNext(KeyMerge merge, int source, byte[] keys, int[] given, Random random) {
    int from = given[source];
    int to = Math.min(keys.length, from + 1 + random.nextInt(20));
    given[source] = to;
    merge.put(source, Arrays.copyOfRange(keys, from, to), ends(to - from));
  }

  @Test
  void mergesWindowsOfSources() {
    Random random = new Random(2);
    OfBytes descending = (a, b) -> Byte.compare(b, a);
    for (int round = 0; round < 300; round++) {
      List<byte[]> sources = new ArrayList<>();
      for (int s = 2 + random.nextInt(12); s > 0; s--) {
        byte[] keys = draw(random, random.nextInt(60), 0);
        int[] order = expected(keys, descending);
        byte[] sorted = new byte[keys.length];
        for (int i = 0; i < order.length; i++) {
          sorted[i] = keys[order[i]];
        }
        sources.add(sorted);
      }
      byte[] result = merged(new KeyComparator(descending), sources, random);
      for (int i = 1; i < result.length; i++) {
        assertTrue(result[i - 1] >= result[i]);
      }
    }
  }

  @Test
  void losesNoKeyIfTheComparatorContradictsItself() {
    Random random = new Random(3);
    List<OfBytes> wrong =
        Arrays.asList((a, b) -> random.nextInt(3) - 1, (a, b) -> 1, (a, b) -> -1, (a, b) -> a * 7 % 5 - b * 3 % 4);
    for (OfBytes order : wrong) {
      for (int round = 0; round < 100; round++) {
        byte[] keys = draw(random, random.nextInt(500), 0);
        int[] sorted = new KeyComparator(order).sort(keys, ends(keys.length));
        assertArrayEquals(IntStream.range(0, keys.length).toArray(), Arrays.stream(sorted).sorted().toArray());
        List<byte[]> sources =
            IntStream.range(0, 2 + random.nextInt(9))
                .mapToObj(s -> draw(random, random.nextInt(80), 0))
                .collect(Collectors.toList());
        merged(new KeyComparator(order), sources, random);
      }
    }
  }

  @Test
  void keepsWhatTheComparatorThrows() {
    Error thrown = new AssertionError("no order");
    OfBytes order = (a, b) -> {
      throw thrown;
    };
    KeyComparator comparator = new KeyComparator(order);
    assertSame(thrown, assertThrows(Error.class, () -> comparator.sort(new byte[2], ends(2))));
    assertSame(thrown, comparator.failure());
    KeyComparator other = new KeyComparator(order);
    KeyMerge merge = other.merge(2);
    merge.put(0, new byte[1], ends(1));
    merge.put(1, new byte[1], ends(1));
    assertSame(thrown, assertThrows(Error.class, merge::next));
    assertSame(thrown, other.failure());
  }
}
