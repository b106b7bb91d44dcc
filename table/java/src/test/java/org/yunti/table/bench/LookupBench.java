package org.yunti.table.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.LongSupplier;

import org.yunti.table.Batch;
import org.yunti.table.Options;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;
import org.yunti.table.TypedTable;
import org.yunti.table.memory.Access;
import org.yunti.table.written.TableWriter;

/**
 * Lookups in a table beside those in a HashMap, in one JVM: three numbers and a name for each key, 9 % of the keys
 * missing. Arguments: the table, which is written if it is missing; text or number; entries; the access.
 *
 * <pre>
 *   java -cp test-classes:classes -Xmx8g org.yunti.table.bench.LookupBench users.ytab text 5000000 BEST
 * </pre>
 */
public final class LookupBench {
  private static final int ROUNDS = 9;
  private static final double MISSES = 0.09;

  private final Random random = new Random(7);
  private final int entries;
  private final int lookups;
  private final boolean isText;
  private final SharedTable table;
  private final long[] numbers;
  private final String[] texts;
  private final byte[][] bytes;
  private final Map<String, LongSupplier> passes = new LinkedHashMap<>();
  private long checksum;

  /** A row as a record, in a map. */
  public record Item(long price, long stock, long sold, String name) {
  }

  /** A row as a view. */
  public interface ItemView {
    long price();

    long stock();

    long sold();

    String name();
  }

  private LookupBench(Path path, boolean isText, int entries, Access access) throws IOException {
    this.isText = isText;
    this.entries = entries;
    lookups = Math.min(1_000_000, entries);
    if (!Files.exists(path)) {
      write(path);
    }
    table = SharedTable.open(path, Options.usual().access(access));
    numbers = new long[lookups];
    texts = new String[lookups];
    bytes = new byte[lookups][];
    for (int i = 0; i < lookups; i++) {
      int of = random.nextInt(entries);
      numbers[i] = random.nextDouble() < MISSES ? -1 - number(of) : number(of);
      texts[i] = (numbers[i] < 0 ? "x" : "u") + text(of).substring(1);
      bytes[i] = texts[i].getBytes(StandardCharsets.UTF_8);
    }
  }

  private static long number(int i) {
    return (i * 0x9E3779B97F4A7C15L) >>> 1;
  }

  private static String text(int i) {
    return "u" + (100_000_000_000L + (long) i * 7919 % 899_999_999_989L);
  }

  private static Item item(int i) {
    return new Item(i, i * 3L, i * 7L, "item number " + i);
  }

  private void write(Path path) throws IOException {
    TableWriter writer = new TableWriter("key:" + (isText ? "utf8" : "i64") + ",price:i64,stock:i64,sold:i64,name:utf8",
        "key").partSlots(1 << 18);
    for (int i = 0; i < entries; i++) {
      Item item = item(i);
      writer.add(isText ? text(i) : (Object) number(i), item.price, item.stock, item.sold, item.name);
    }
    writer.write(path);
  }

  public static void main(String[] arguments) throws IOException {
    new LookupBench(Path.of(arguments[0]), arguments[1].equals("text"), Integer.parseInt(arguments[2]),
        Access.valueOf(arguments[3])).run(arguments.length == 4);
  }

  private void run(boolean hasMap) {
    System.out.printf("Java %s, %d entries, %d lookups, key %s, %s%n", System.getProperty("java.version"), entries,
        lookups, isText ? "text" : "number", table);
    table.verify();
    Row row = table.row();
    int price = table.column("price");
    int stock = table.column("stock");
    int sold = table.column("sold");
    int name = table.column("name");
    TypedTable<ItemView> views = table.view(ItemView.class);
    ItemView view = views.flyweight();
    if (isText) {
      measure("find(byte[], row)", () -> {
        long sum = 0;
        for (byte[] key : bytes) {
          if (table.find(key, row)) {
            sum += row.getLong(price) + row.getLong(stock) + row.getLong(sold) + row.byteLength(name);
          }
        }
        return sum;
      });
      measure("find(String, row)", () -> {
        long sum = 0;
        for (String key : texts) {
          if (table.find(key, row)) {
            sum += row.getLong(price) + row.getLong(stock) + row.getLong(sold) + row.byteLength(name);
          }
        }
        return sum;
      });
      measure("find(String, view)", () -> {
        long sum = 0;
        for (String key : texts) {
          if (views.find(key, view)) {
            sum += view.price() + view.stock() + view.sold();
          }
        }
        return sum;
      });
      measure("view get(String)", () -> {
        long sum = 0;
        for (String key : texts) {
          ItemView of = views.get(key);
          if (of != null) {
            sum += of.price() + of.stock() + of.sold();
          }
        }
        return sum;
      });
      measure("view get(String), name", () -> {
        long sum = 0;
        for (String key : texts) {
          ItemView of = views.get(key);
          if (of != null) {
            sum += of.price() + of.stock() + of.sold() + of.name().length();
          }
        }
        return sum;
      });
    } else {
      measure("find(long, row)", () -> {
        long sum = 0;
        for (long key : numbers) {
          if (table.find(key, row)) {
            sum += row.getLong(price) + row.getLong(stock) + row.getLong(sold) + row.byteLength(name);
          }
        }
        return sum;
      });
      measure("find(long, view)", () -> {
        long sum = 0;
        for (long key : numbers) {
          if (views.find(key, view)) {
            sum += view.price() + view.stock() + view.sold();
          }
        }
        return sum;
      });
      measure("view get(long)", () -> {
        long sum = 0;
        for (long key : numbers) {
          ItemView of = views.get(key);
          if (of != null) {
            sum += of.price() + of.stock() + of.sold();
          }
        }
        return sum;
      });
    }
    Batch batch = table.batch();
    measure("batches of 1000", () -> {
      long sum = 0;
      for (int from = 0; from < lookups; from += 1000) {
        int count = Math.min(1000, lookups - from);
        int unused = isText ? batch.find(texts, from, count) : batch.find(numbers, from, count);
        for (int i = 0; i < count; i++) {
          if (batch.move(i, row)) {
            sum += row.getLong(price) + row.getLong(stock) + row.getLong(sold) + row.byteLength(name);
          }
        }
      }
      return sum;
    });
    if (hasMap) {
      maps();
    }
    runAll();
  }

  private void maps() {
    long before = heap();
    System.out.printf("heap with the table: %.1f MB (keys of the lookups included)%n", before / 1e6);
    long begin = System.nanoTime();
    if (isText) {
      Map<String, Item> map = new HashMap<>();
      for (int i = 0; i < entries; i++) {
        map.put(text(i), item(i));
      }
      System.out.printf("HashMap: %.1f s to build, %.1f MB of heap%n", (System.nanoTime() - begin) / 1e9,
          (heap() - before) / 1e6);
      measure("HashMap, fresh Strings", () -> {
        long sum = 0;
        for (byte[] key : bytes) {
          Item of = map.get(new String(key, StandardCharsets.US_ASCII));
          if (of != null) {
            sum += of.price + of.stock + of.sold + of.name.length();
          }
        }
        return sum;
      });
      measure("HashMap, Strings with known hash", () -> {
        long sum = 0;
        for (String key : texts) {
          Item of = map.get(key);
          if (of != null) {
            sum += of.price + of.stock + of.sold + of.name.length();
          }
        }
        return sum;
      });
    } else {
      Map<Long, Item> map = new HashMap<>();
      for (int i = 0; i < entries; i++) {
        map.put(number(i), item(i));
      }
      System.out.printf("HashMap: %.1f s to build, %.1f MB of heap%n", (System.nanoTime() - begin) / 1e9,
          (heap() - before) / 1e6);
      measure("HashMap", () -> {
        long sum = 0;
        for (long key : numbers) {
          Item of = map.get(key);
          if (of != null) {
            sum += of.price + of.stock + of.sold + of.name.length();
          }
        }
        return sum;
      });
    }
  }

  private static long heap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private void measure(String name, LongSupplier pass) {
    passes.put(name, pass);
  }

  /** Runs all in turn, so that what else the machine does falls on each. */
  private void runAll() {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    Map<String, double[]> times = new LinkedHashMap<>();
    Map<String, Long> allocated = new HashMap<>();
    for (int round = 0; round < ROUNDS; round++) {
      for (Map.Entry<String, LongSupplier> pass : passes.entrySet()) {
        long before = threads.getCurrentThreadAllocatedBytes();
        long begin = threads.getCurrentThreadCpuTime();
        checksum += pass.getValue().getAsLong();
        double each = (threads.getCurrentThreadCpuTime() - begin) / (double) lookups;
        times.computeIfAbsent(pass.getKey(), name -> new double[ROUNDS])[round] = each;
        allocated.put(pass.getKey(), threads.getCurrentThreadAllocatedBytes() - before);
      }
    }
    times.forEach((name, each) -> {
      Arrays.sort(each);
      System.out.printf("%-34s %6.0f ns best, %6.0f median; %6.1f bytes a lookup%n", name, each[0], each[ROUNDS / 2],
          allocated.get(name) / (double) lookups);
    });
  }
}
