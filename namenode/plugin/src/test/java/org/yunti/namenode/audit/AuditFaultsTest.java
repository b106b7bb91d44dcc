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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Disks that are full, slow or gone, and settings that are wrong. */
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
  void whatIsPutAfterTheEndIsWrittenAtOnce() throws Exception {
    Path file = folder.resolve("audit");
    AuditWriter writer = writer(file, 8, 1000);
    writer.put(event("/1"));
    writer.end();
    assertEquals(List.of("/1"), names(file));
    writer.put(event("/2"));
    assertEquals(List.of("/1", "/2"), names(file));
  }

  /** A file that somebody puts aside is followed by a new one; nothing is in neither. */
  @Test
  void putAside() throws Exception {
    Path file = folder.resolve("audit");
    AuditWriter writer = writer(file, 8, 1000);
    writer.put(event("/1"));
    until(() -> writer.metrics().lines.value() == 1);
    Files.move(file, folder.resolve("aside"));
    until(() -> Files.exists(file));
    writer.put(event("/2"));
    Files.delete(file);
    until(() -> Files.exists(file));
    writer.put(event("/3"));
    writer.end();
    assertEquals(List.of("/1"), names(folder.resolve("aside")));
    assertEquals(List.of("/3"), names(file));
  }

  /** Nobody reads the pipe: operations wait, but not for ever; when it is read, all that had a place comes, in order and whole. */
  @Test
  void aDiskThatStandsStill() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    try (FileChannel reader = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      AuditWriter writer = writer(pipe, 8, 100);
      String name = "/" + "x".repeat(10_000);
      // More than the pipe, the buffer and the ring take together.
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
  void aFullDevice() throws Exception {
    AuditWriter writer = writer(Path.of("/dev/full"), 8, 50);
    for (int number = 0; number < 30; number++) {
      writer.put(event("/" + number));
    }
    assertEquals(30, writer.metrics().events.value());
    assertTrue(writer.metrics().errors.value() > 0);
    assertTrue(writer.metrics().overflows.value() > 0);
    // Only the first of them waited: the file is known to be bad by then.
    assertTrue(writer.metrics().waitMillis.value() < 1500, writer.metrics().waitMillis.value() + " ms");
    writer.end();
    assertEquals(30, writer.metrics().overflows.value(), "what was in the ring goes to the log too");
    assertEquals(0, writer.metrics().lines.value());
  }

  @Test
  void wrongSettings() {
    refused("yunti.namenode.audit.file: audit lines cannot be written to /proc/no/such", "yunti.namenode.audit.file", "/proc/no/such");
    refused("yunti.namenode.audit.file.max.size is '-1'; give bytes above 0", "yunti.namenode.audit.file.max.size", "-1");
    refused("yunti.namenode.audit.file.max.size is 'much'; give bytes above 0", "yunti.namenode.audit.file.max.size", "much");
    refused("yunti.namenode.audit.ring.events is '1'; give a number from 2 to 16777216", "yunti.namenode.audit.ring.events", "1");
    refused("yunti.namenode.audit.flush.ms is 'x'; give a number from 1 to 3600000", "yunti.namenode.audit.flush.ms", "x");
    String file = System.getProperty("hadoop.log.dir") == null ? null : "";
    if (file == null) {
      assertTrue(
          assertThrows(IllegalArgumentException.class, () -> new RingAuditLogger().initialize(new Configuration(false))).getMessage().contains("hadoop.log.dir"));
    }
  }

  private void refused(String expected, String key, String value) {
    Configuration conf = new Configuration(false);
    conf.set(AuditSettings.FILE_KEY, folder.resolve("audit").toString());
    conf.set(key, value);
    String said = assertThrows(IllegalArgumentException.class, () -> new RingAuditLogger().initialize(conf)).getMessage();
    assertTrue(said.startsWith(expected), said);
  }

  @Test
  void sizes() {
    Configuration conf = new Configuration(false);
    conf.set(AuditSettings.FILE_KEY, "/tmp/x");
    conf.set(AuditSettings.FILE_BYTES_KEY, "2m");
    conf.set(AuditSettings.RING_KEY, "1000");
    AuditSettings settings = AuditSettings.of(conf);
    assertEquals(2 << 20, settings.fileBytesMax());
    assertEquals(1024, settings.ringEvents());
    conf.set(AuditSettings.RING_KEY, "1024");
    assertEquals(1024, AuditSettings.of(conf).ringEvents());
  }
}
