package org.yunti.namenode.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ExitUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of full, slow and missing disks, and of wrong settings. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AuditFaultsTest {
  @TempDir private Path folder;

  private static AuditEvent event(String name) {
    return new AuditEvent(0, true, "u", null, "open", name, null, null, false, null, "rpc", null, null);
  }

  private AuditWriter writer(Path file, int ringEvents, long blockMillis) throws IOException {
    AuditWriter writer = new AuditWriter(new AuditSettings(file, 1 << 20, 3, ringEvents, blockMillis, 1), 100);
    writer.start();
    return writer;
  }

  private static List<String> names(Path file) throws IOException {
    try (var lines = Files.lines(file)) {
      return lines.map(line -> line.replaceFirst(".*\tsrc=([^\t]*)\t.*", "$1")).toList();
    }
  }

  private static void until(java.util.concurrent.Callable<Boolean> isSo) throws Exception {
    while (!isSo.call()) {
      Thread.sleep(5);
    }
  }

  @Test
  void writesAtOnceAfterTheEnd() throws Exception {
    Path file = folder.resolve("audit");
    AuditWriter writer = writer(file, 8, 1000);
    writer.put(event("/1"));
    writer.end();
    assertEquals(List.of("/1"), names(file));
    writer.put(event("/2"));
    assertEquals(List.of("/1", "/2"), names(file));
  }

  /** If another program moves the file, a new one follows, and no line is lost. */
  @Test
  void followsAMovedFile() throws Exception {
    Path file = folder.resolve("audit");
    AuditWriter writer = writer(file, 8, 1000);
    writer.put(event("/1"));
    until(() -> writer.metrics().lines.value() == 1);
    Files.move(file, folder.resolve("aside"));
    until(() -> Files.exists(file));
    writer.put(event("/2"));
    until(() -> writer.metrics().lines.value() == 2);
    Files.delete(file);
    until(() -> Files.exists(file));
    writer.put(event("/3"));
    writer.end();
    assertEquals(List.of("/1"), names(folder.resolve("aside")));
    assertEquals(List.of("/3"), names(file));
  }

  /**
   * A pipe without a reader: operations wait for a limited time. Once it is read, all lines with a place arrive in
   * order.
   */
  @Test
  void waitsForAStalledDisk() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    try (FileChannel reader = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      AuditWriter writer = writer(pipe, 8, 100);
      String name = "/" + "x".repeat(10_000);
      // More than pipe, buffer and ring can hold.
      long begin = System.nanoTime();
      int put = 0;
      while (writer.metrics().overflows.value() == 0) {
        writer.put(event(name + put++));
        assertTrue(put < 1000);
      }
      assertTrue(System.nanoTime() - begin >= TimeUnit.MILLISECONDS.toNanos(100));
      assertTrue(writer.metrics().waits.value() > 0);
      StringBuilder read = new StringBuilder();
      java.nio.ByteBuffer some = java.nio.ByteBuffer.allocate(1 << 16);
      long expected = put - writer.metrics().overflows.value();
      while (read.chars().filter(c -> c == '\n').count() < expected) {
        reader.read(some.clear());
        read.append(StandardCharsets.US_ASCII.decode(some.flip()));
      }
      String[] lines = read.toString().split("\n");
      assertEquals(expected, lines.length);
      for (int number = 0; number < lines.length; number++) {
        assertTrue(lines[number].contains("src=" + name + number + "\t"), lines[number]);
      }
    }
  }

  @Test
  void overflowsOnAFullDevice() throws Exception {
    AuditWriter writer = writer(Path.of("/dev/full"), 8, 50);
    for (int number = 0; number < 30; number++) {
      writer.put(event("/" + number));
    }
    assertEquals(30, writer.metrics().events.value());
    assertTrue(writer.metrics().errors.value() > 0);
    assertTrue(writer.metrics().overflows.value() > 0);
    // Only the first event waited: after that the file has failed for the whole time.
    assertTrue(writer.metrics().waitMillis.value() < 1500, writer.metrics().waitMillis.value() + " ms");
    writer.end();
    assertEquals(30, writer.metrics().overflows.value(), "the ring's events go to the log too");
    assertEquals(0, writer.metrics().lines.value());
  }

  /** Lines count once they are written, also after failures. */
  @Test
  void countsLinesWrittenLater() throws Exception {
    Path file = folder.resolve("audit");
    Files.createSymbolicLink(file, Path.of("/dev/full"));
    AuditWriter writer = writer(file, 8, 1000);
    for (int number = 0; number < 3; number++) {
      writer.put(event("/" + number));
    }
    until(() -> writer.metrics().errors.value() > 0);
    Path other = folder.resolve("other");
    Files.createSymbolicLink(other, Files.createFile(folder.resolve("real")));
    Files.move(other, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
    until(() -> writer.metrics().lines.value() == 3);
    assertEquals(List.of("/0", "/1", "/2"), names(file));
    assertEquals(Files.size(file), writer.metrics().bytes.value());
    writer.end();
  }

  /** An interrupted thread keeps waiting for a place, without spinning, and keeps its interrupt flag. */
  @Test
  void waitsOnAfterAnInterrupt() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    try (FileChannel reader = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      AuditWriter writer = writer(pipe, 2, 1000);
      String name = "/" + "x".repeat(100_000);
      Thread.currentThread().interrupt();
      var threads = java.lang.management.ManagementFactory.getThreadMXBean();
      long cpu = 0;
      while (writer.metrics().overflows.value() == 0) {
        cpu = threads.getCurrentThreadCpuTime();
        writer.put(event(name));
      }
      cpu = threads.getCurrentThreadCpuTime() - cpu;
      assertTrue(Thread.interrupted());
      assertTrue(cpu < TimeUnit.MILLISECONDS.toNanos(500), cpu + " ns of a second");
      assertTrue(reader.isOpen());
    }
  }

  /** A write by an interrupted thread closes a channel. */
  @Test
  void writesAtTheEndDespiteAnInterrupt() throws Exception {
    Path file = folder.resolve("audit");
    AuditWriter writer = writer(file, 8, 1000);
    writer.end();
    Thread.currentThread().interrupt();
    writer.put(event("/1"));
    assertTrue(Thread.interrupted());
    writer.put(event("/2"));
    assertEquals(List.of("/1", "/2"), names(file));
    assertEquals(0, writer.metrics().overflows.value());
  }

  /** Each event is in the file when its put returns, in the thread's order, whenever the end comes. */
  @Test
  void writesAllEventsAtTheEnd() throws Exception {
    for (int round = 0; round < 50; round++) {
      Path file = folder.resolve("audit" + round);
      AuditWriter writer = writer(file, 4, 10_000);
      Thread[] threads = new Thread[4];
      for (int number = 0; number < threads.length; number++) {
        String name = "/" + number + "/";
        threads[number] = new Thread(() -> {
          for (int next = 0; next < 200; next++) {
            writer.put(event(name + next));
          }
        });
        threads[number].start();
      }
      java.util.concurrent.locks.LockSupport.parkNanos(round * 50_000L);
      writer.end();
      for (Thread thread : threads) {
        thread.join();
      }
      List<String> names = names(file);
      assertEquals(threads.length * 200, names.size());
      int[] next = new int[threads.length];
      for (String name : names) {
        String[] parts = name.split("/");
        assertEquals(next[Integer.parseInt(parts[1])]++, Integer.parseInt(parts[2]), name);
      }
      assertEquals(names.size(), writer.metrics().lines.value());
    }
  }

  @Test
  void refusesWrongSettings() {
    ExitUtil.disableSystemExit();
    refused("yunti.namenode.audit.file: audit lines cannot be written to /proc/no/such", "yunti.namenode.audit.file",
        "/proc/no/such");
    refused(
        "yunti.namenode.audit.file.max.size is '-1'; give bytes above 0", "yunti.namenode.audit.file.max.size", "-1");
    refused("yunti.namenode.audit.file.max.size is 'much'; give bytes above 0", "yunti.namenode.audit.file.max.size",
        "much");
    refused("yunti.namenode.audit.file.max.size is '9999999999999999999g'; give bytes above 0",
        "yunti.namenode.audit.file.max.size", "9999999999999999999g");
    refused("yunti.namenode.audit.file.max.size is '9223372036854775808'; give bytes above 0",
        "yunti.namenode.audit.file.max.size", "9223372036854775808");
    refused("yunti.namenode.audit.file.max.backups is '-1'; give a number from 0 to 10000",
        "yunti.namenode.audit.file.max.backups", "-1");
    refused("yunti.namenode.audit.file: audit lines cannot be written to " + folder, AuditSettings.FILE_KEY,
        folder.toString());
    refused("yunti.namenode.audit.ring.events is '1'; give a number from 2 to 16777216",
        "yunti.namenode.audit.ring.events", "1");
    refused(
        "yunti.namenode.audit.flush.ms is 'x'; give a number from 1 to 3600000", "yunti.namenode.audit.flush.ms", "x");
    String file = System.getProperty("hadoop.log.dir") == null ? null : "";
    if (file == null) {
      assertTrue(
          assertThrows(ExitUtil.ExitException.class, () -> new RingAuditLogger().initialize(new Configuration(false)))
              .getMessage()
              .contains("hadoop.log.dir"));
    }
  }

  private void refused(String expected, String key, String value) {
    Configuration conf = new Configuration(false);
    conf.set(AuditSettings.FILE_KEY, folder.resolve("audit").toString());
    conf.set(key, value);
    String message =
        assertThrows(ExitUtil.ExitException.class, () -> new RingAuditLogger().initialize(conf)).getMessage();
    assertTrue(message.startsWith("the NameNode does not start: programmatically: " + expected), message);
  }

  @Test
  void parsesSizes() {
    Configuration conf = new Configuration(false);
    conf.set(AuditSettings.FILE_KEY, "/tmp/x");
    // A blank value counts as not set.
    conf.set(AuditSettings.FILE_BYTES_KEY, " ");
    conf.set(AuditSettings.BACKUPS_KEY, "");
    assertEquals(256 << 20, AuditSettings.of(conf).fileBytesMax());
    assertEquals(20, AuditSettings.of(conf).backupsMax());
    conf.set(AuditSettings.FILE_BYTES_KEY, "2m");
    conf.set(AuditSettings.RING_KEY, "1000");
    AuditSettings settings = AuditSettings.of(conf);
    assertEquals(2 << 20, settings.fileBytesMax());
    assertEquals(1024, settings.ringEvents());
    conf.set(AuditSettings.RING_KEY, "1024");
    assertEquals(1024, AuditSettings.of(conf).ringEvents());
  }
}
