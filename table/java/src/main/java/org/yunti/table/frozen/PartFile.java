package org.yunti.table.frozen;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.zip.Checksum;

import org.yunti.table.format.Crc32c;
import org.yunti.table.format.Header;
import org.yunti.table.format.KeyHash;

/**
 * A table of two rows, which {@code yunti table} reads too: key {@code part:utf8}, column {@code content:bytes}. It has
 * one part, one bucket and one group of slots; the seed and pilot are found by trial.
 */
final class PartFile {
  private static final String[] NAMES = {"classes", "objects"};
  private static final int SLOTS = 16;
  private static final int BLOCK = 1 << 16;
  private static final long MAGIC = 0x1A0A0D8942415459L;
  private static final int UTF8 = 11;
  private static final int BYTES = 12;

  private PartFile() {
  }

  /** Writes the table beside its place, and gives it its name at once: a reader sees the old file or this one. */
  static void write(Path path, byte[][] contents) throws IOException {
    write(path, contents, true);
  }

  /** Writes the table; if it is not to be durable, without waiting for the disk. */
  static void write(Path path, byte[][] contents, boolean isDurable) throws IOException {
    Path beside = path.resolveSibling(path.getFileName() + "." + Long.toHexString(System.nanoTime()) + ".new");
    try {
      try (FileChannel file = FileChannel.open(beside, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        writeTo(file, contents);
        if (isDurable) {
          file.force(true);
        }
      }
      Files.move(beside, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(beside);
    }
  }

  private static int slot(String name, int pilot) {
    byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
    return (int) KeyHash.slot(KeyHash.hash(bytes, 0, bytes.length, KeyHash.start(0)), pilot, SLOTS);
  }

  private static void writeTo(FileChannel file, byte[][] contents) throws IOException {
    int pilot = 0;
    while (slot(NAMES[0], pilot) == slot(NAMES[1], pilot)) {
      pilot++;
    }
    Output group = new Output();
    group.number(0, 8);
    byte[][] heads = new byte[2][];
    int[] slots = {slot(NAMES[0], pilot), slot(NAMES[1], pilot)};
    for (int i = 0; i < 2; i++) {
      Output head = new Output();
      head.leb(NAMES[i].length());
      head.leb(contents[i].length);
      head.put(NAMES[i].getBytes(StandardCharsets.US_ASCII));
      heads[i] = head.toBytes();
    }
    long end = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
      group.number(end, 4);
      for (int i = 0; i < 2; i++) {
        end += slots[i] == slot ? heads[i].length + (long) contents[i].length : 0;
      }
    }
    group.number(end, 4);
    int first = slots[0] < slots[1] ? 0 : 1;
    byte[][] rows = {heads[first], contents[first], heads[1 - first], contents[1 - first]};
    byte[] schema = schema();
    long[] places = places(schema.length, group.size(), end);
    byte[] header = header(places);
    Sums sums = new Sums(file);
    sums.put(header);
    sums.put(schema);
    sums.fill(places[2]);
    sums.put(new byte[] {(byte) pilot});
    sums.fill(places[6]);
    sums.put(group.toBytes());
    sums.fill(places[8]);
    for (byte[] part : rows) {
      sums.put(part);
    }
    sums.fill(places[16]);
    sums.end();
  }

  private static byte[] schema() {
    Output out = new Output();
    out.number(2, 2);
    for (int i = 0; i < 2; i++) {
      String name = i == 0 ? "part" : "content";
      out.number(i == 0 ? UTF8 : BYTES, 1);
      out.number(0, 1);
      out.number(name.length(), 2);
      out.put(name.getBytes(StandardCharsets.US_ASCII));
    }
    out.number(1, 2);
    out.number(0, 2);
    return out.toBytes();
  }

  /** Returns begins and bytes of the sections. */
  private static long[] places(long schemaBytes, long groupBytes, long rowBytes) {
    long[] bytes = {schemaBytes, 1, 0, groupBytes, rowBytes, 0, 0, 0, 0};
    long[] places = new long[2 * bytes.length];
    long at = Header.BYTES;
    for (int i = 0; i < bytes.length; i++) {
      at = at + 7 & -8;
      places[2 * i] = at;
      places[2 * i + 1] = i == 8 ? (at + BLOCK - 1) / BLOCK * 4 : bytes[i];
      at += bytes[i];
    }
    return places;
  }

  private static byte[] header(long[] places) {
    Output out = new Output();
    out.number(MAGIC, 8);
    out.number(Header.VERSION, 4);
    out.number(0, 4);
    for (long number : new long[] {2, 2, 0}) {
      out.number(number, 8);
    }
    for (long number : new long[] {1, 1, SLOTS, 0, 4, 0}) {
      out.number(number, 4);
    }
    for (long place : places) {
      out.number(place, 8);
    }
    out.put(new byte[Header.BYTES - 4 - out.size()]);
    Checksum sum = Crc32c.create();
    sum.update(out.toBytes(), 0, out.size());
    out.number(sum.getValue(), 4);
    return out.toBytes();
  }

  /** Writes bytes, and behind them the sum of each block. */
  private static final class Sums {
    private final FileChannel file;
    private final Checksum sum = Crc32c.create();
    private final Output all = new Output();
    private long written;

    Sums(FileChannel file) {
      this.file = file;
    }

    void put(byte[] bytes) throws IOException {
      for (int at = 0; at < bytes.length; ) {
        int step = (int) Math.min(bytes.length - at, BLOCK - written % BLOCK);
        sum.update(bytes, at, step);
        at += step;
        written += step;
        if (written % BLOCK == 0) {
          close();
        }
      }
      write(bytes);
    }

    private void write(byte[] bytes) throws IOException {
      for (ByteBuffer buffer = ByteBuffer.wrap(bytes); buffer.hasRemaining(); ) {
        file.write(buffer);
      }
    }

    private void close() {
      all.number(sum.getValue(), 4);
      sum.reset();
    }

    void fill(long to) throws IOException {
      put(new byte[(int) (to - written)]);
    }

    void end() throws IOException {
      if (written % BLOCK != 0) {
        close();
      }
      write(all.toBytes());
    }
  }
}
