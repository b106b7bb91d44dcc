package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yunti.table.memory.Access;
import org.yunti.table.written.TableWriter;

/** Tables that are closed, replaced and cut while others read them; and what a lookup allocates. */
class LifeTest {
  private static final int KEYS = 20_000;

  @TempDir
  Path folder;

  static List<Access> accesses() {
    return Accesses.here();
  }

  private Path write(String name, long factor) throws IOException {
    TableWriter writer = new TableWriter("id:i64,value:i64,name:utf8", "id");
    for (long i = 0; i < KEYS; i++) {
      writer.add(i, i * factor, "name of " + i);
    }
    Path path = folder.resolve(name);
    writer.write(path);
    return path;
  }

  @ParameterizedTest
  @MethodSource("accesses")
  void aClosedTableThrows(Access access) throws IOException {
    SharedTable table = SharedTable.open(write(access + ".ytab", 1), Options.usual().access(access));
    Row row = table.get(1);
    Rows rows = table.rows();
    table.close();
    table.close();
    assertTrue(table.isClosed());
    assertThrows(IllegalStateException.class, () -> row.getLong("value"));
    assertThrows(IllegalStateException.class, () -> row.getUtf8("name"));
    assertThrows(IllegalStateException.class, () -> table.get(1));
    assertThrows(IllegalStateException.class, () -> rows.next(row));
    assertThrows(IllegalStateException.class, table::verify);
  }

  @ParameterizedTest
  @MethodSource("accesses")
  void threadsReadWhileTheTableIsClosed(Access access) throws Exception {
    Path path = write("busy-" + access + ".ytab", 3);
    for (int round = 0; round < 5; round++) {
      SharedTable table = SharedTable.open(path, Options.usual().access(access));
      AtomicLong found = new AtomicLong();
      List<Throwable> failures = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Thread thread = new Thread(() -> {
          Row row = table.row();
          try {
            for (long key = 0; ; key = (key + 7) % KEYS) {
              assertTrue(table.find(key, row));
              assertEquals(3 * key, row.getLong(1));
              found.incrementAndGet();
            }
          } catch (IllegalStateException closed) {
            return;
          } catch (Throwable e) {
            synchronized (failures) {
              failures.add(e);
            }
          }
        });
        thread.start();
        threads.add(thread);
      }
      while (found.get() < 20_000) {
        Thread.sleep(1);
      }
      table.close();
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), failures);
    }
  }

  @Test
  void reopenFollowsTheName() throws IOException {
    Path path = write("now.ytab", 1);
    SharedTable old = SharedTable.open(path);
    assertSame(old, old.reopen());
    Files.move(write("next.ytab", 2), path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    SharedTable next = old.reopen();
    assertNotSame(old, next);
    assertEquals(10, old.get(10).getLong("value"));
    assertEquals(20, next.get(10).getLong("value"));
    old.close();
    assertEquals(20, next.get(10).getLong("value"));
    next.close();
  }

  @Test
  void lookupsAllocateNothing() throws IOException {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (SharedTable table = SharedTable.open(write("lean.ytab", 1))) {
      Row row = table.row();
      Batch batch = table.batch();
      long[] keys = new long[100];
      byte[] name = new byte[64];
      long sum = 0;
      long before = 0;
      for (int round = 0; round < 20; round++) {
        before = threads.getCurrentThreadAllocatedBytes();
        for (long key = 0; key < KEYS + 1000; key++) {
          sum += table.find(key, row) ? row.getLong(1) + row.copyBytes(2, name, 0) : 0;
          keys[(int) (key % 100)] = key;
        }
        sum += table.getAll(keys, batch);
      }
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertTrue(allocated < 1000, allocated + " bytes, " + sum);
    }
  }

  @Test
  void anEmptyTableIsOne() throws IOException {
    Path path = folder.resolve("empty.ytab");
    new TableWriter("id:i64", "id").sorted().write(path);
    SharedTable table = SharedTable.open(path, Options.usual().verified(true));
    assertNull(table.get(1));
    assertEquals(0, table.size());
    assertTrue(!table.iterator().hasNext() && !table.range(1, 2).iterator().hasNext());
    table.close();
    assertThrows(IllegalStateException.class, () -> table.get(1));
  }

  /** A JVM of its own, because it may end. */
  @ParameterizedTest
  @MethodSource("accesses")
  void aTableThatIsCutGivesAnException(Access access) throws Exception {
    Path path = write("cut-" + access + ".ytab", 1);
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx256m", "-cp", System.getProperty("java.class.path"), Cut.class.getName(), path.toString(), access.name())
        .redirectErrorStream(true).directory(folder.toFile()).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    assertTrue(output.contains("was cut while it was open"), output);
  }

  /** Cuts the file that it reads. */
  static final class Cut {
    public static void main(String[] arguments) throws IOException {
      Path path = Path.of(arguments[0]);
      SharedTable table = SharedTable.open(path, Options.usual().access(Access.valueOf(arguments[1])));
      Row row = table.row();
      table.find(1, row);
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
        file.setLength(8192);
      }
      try {
        for (long key = 0; key < KEYS; key++) {
          table.find(key, row);
        }
        System.out.println("nothing happened");
      } catch (TableException e) {
        System.out.println(e.getMessage());
      }
    }
  }
}
