package org.yunti.table.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import org.yunti.table.Batch;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;
import org.yunti.table.Table;
import org.yunti.table.client.TableClient;
import org.yunti.table.written.Serve;
import org.yunti.table.written.TableWriter;

/**
 * Lookups at a server of this machine, over a Unix socket and TCP, beside those in the file: three numbers and a name
 * for each key, 9 % of the keys missing. Arguments: the table, which is written if it is missing; entries; seconds of
 * each measurement. Run it in table/java, with the command built.
 *
 * <pre>
 *   java -cp test-classes:classes org.yunti.table.bench.RemoteBench /tmp/numbers.ytab 1000000 2
 * </pre>
 */
public final class RemoteBench {
  private static final double MISSES = 0.09;
  private static final int[] BATCHES = {1, 10, 100, 1000, 10_000};

  private final Random random = new Random(7);
  private final int entries;
  private final long nanos;
  private long checksum;

  private RemoteBench(int entries, double seconds) {
    this.entries = entries;
    nanos = (long) (seconds * 1e9);
  }

  private static long number(int i) {
    return (i * 0x9E3779B97F4A7C15L) >>> 1;
  }

  private void write(Path path) throws IOException {
    TableWriter writer = new TableWriter("key:i64,price:i64,stock:i64,sold:i64,name:utf8", "key").partSlots(1 << 18);
    for (int i = 0; i < entries; i++) {
      writer.add(number(i), (long) i, i * 3L, i * 7L, "item number " + i);
    }
    writer.write(path);
  }

  public static void main(String[] arguments) throws IOException {
    Path path = Path.of(arguments[0]);
    RemoteBench bench = new RemoteBench(Integer.parseInt(arguments[1]), Double.parseDouble(arguments[2]));
    if (!Files.exists(path)) {
      bench.write(path);
    }
    Path socket = Path.of(path + ".socket");
    System.out.printf("Java %s, %d entries%n%-6s %9s %14s %12s %12s%n", System.getProperty("java.version"),
        bench.entries, "", "keys", "lookups/s", "median us", "p99 us");
    try (Serve server = new Serve("bench=" + path, "--listen", "unix:" + socket, "--listen", "127.0.0.1:0");
        SharedTable file = SharedTable.open(path);
        TableClient unix = TableClient.connect("bench", server.addresses.get(0));
        TableClient tcp = TableClient.connect("bench", server.addresses.get(1))) {
      for (int keys : BATCHES) {
        bench.run("unix", unix, keys);
        bench.run("tcp", tcp, keys);
        bench.run("file", file, keys);
      }
    }
    System.out.println("checksum " + bench.checksum);
  }

  /** Measures lookups of as many keys at once; the first half of the time warms up. */
  private void run(String name, Table table, int keys) {
    Row row = table.row();
    Batch batch = table.batch();
    long[] numbers = new long[keys];
    long[] times = new long[1 << 22];
    int count = 0;
    long begin = System.nanoTime();
    long middle = begin + nanos / 2;
    for (long now = begin; now - begin < nanos && count < times.length; ) {
      for (int i = 0; i < keys; i++) {
        long number = number(random.nextInt(entries));
        numbers[i] = random.nextDouble() < MISSES ? -1 - number : number;
      }
      long before = System.nanoTime();
      lookUp(table, numbers, batch, row);
      now = System.nanoTime();
      if (before >= middle) {
        times[count++] = now - before;
      }
    }
    long[] sorted = Arrays.copyOf(times, count);
    Arrays.sort(sorted);
    double seconds = Arrays.stream(sorted).sum() / (double) TimeUnit.SECONDS.toNanos(1);
    System.out.printf("%-6s %9d %14.0f %12.1f %12.1f%n", name, keys, count * (double) keys / seconds,
        sorted[count / 2] / 1e3, sorted[(int) (count * 0.99)] / 1e3);
  }

  private void lookUp(Table table, long[] numbers, Batch batch, Row row) {
    if (numbers.length == 1) {
      checksum += table.find(numbers[0], row) ? row.getLong(1) + row.getLong(3) : 0;
      return;
    }
    table.getAll(numbers, batch);
    for (int i = 0; i < numbers.length; i++) {
      checksum += batch.move(i, row) ? row.getLong(1) + row.getLong(3) : 0;
    }
  }
}
