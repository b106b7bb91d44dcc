package org.yunti.table.bench;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import org.yunti.table.Row;
import org.yunti.table.SharedTable;

/**
 * One of several JVMs with one table, or with a HashMap of the same rows: random lookups beside garbage, then full
 * collections. Its memory is measured from outside, while it waits for a byte; its pauses are in its log.
 *
 * <pre>
 *   java -Xlog:gc .. org.yunti.table.bench.MemoryBench users.ytab KEYS LOOKUPS table|map
 * </pre>
 */
public final class MemoryBench {
  private static final int FULL = 3;
  private static final int GARBAGE = 200;
  private static final int LIVE = 10_000;

  private static byte[][] live = new byte[LIVE][];

  private MemoryBench() {
  }

  /** SplitMix64, as in table/benches/lookups.rs. */
  private static long mixed(long number) {
    long z = number * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  public static void main(String[] arguments) throws IOException {
    long keys = Long.parseLong(arguments[1]);
    long lookups = Long.parseLong(arguments[2]);
    long sum = 0;
    try (SharedTable table = SharedTable.open(Path.of(arguments[0]))) {
      Row row = table.row();
      int value = table.column("value");
      Map<Long, Long> map = new HashMap<>();
      if (arguments[3].equals("map")) {
        for (long number = 0; number < keys; number++) {
          map.put(mixed(number), number);
        }
      }
      for (long at = 0; at < lookups; at++) {
        long key = mixed(Long.remainderUnsigned(mixed(at), keys));
        if (!map.isEmpty()) {
          sum += map.get(key);
        } else if (table.find(key, row)) {
          sum += row.getLong(value);
        }
        live[(int) (at % LIVE)] = new byte[GARBAGE];
      }
      for (int i = 0; i < FULL; i++) {
        System.gc();
      }
      long millis = 0;
      for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
        millis += Math.max(0, collector.getCollectionTime());
      }
      System.out.printf("ready %d %d%n", sum, millis);
      if (System.in.read() < 0) {
        System.out.println(map.size());
      }
    }
  }
}
