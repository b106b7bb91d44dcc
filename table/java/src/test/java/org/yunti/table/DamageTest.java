package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.table.written.RandomTable;
import org.yunti.table.written.TableWriter;

/** Damage is a TableException: never a wrong value, another exception, or the end of the JVM. */
class DamageTest {
  private static final int CHANGES = 400;
  private static final int TABLES = 25;
  private static final int BLOCK = 1 << 16;

  @TempDir
  Path folder;

  private byte[] write(RandomTable random) throws IOException {
    Path path = folder.resolve("whole.ytab");
    random.writer.write(path);
    return Files.readAllBytes(path);
  }

  private SharedTable open(byte[] bytes) throws IOException {
    return SharedTable.open(Files.write(folder.resolve("damaged.ytab"), bytes));
  }

  @Test
  void anyChangedBitIsFound() throws IOException {
    byte[] whole = write(new RandomTable(3));
    Random choice = new Random(1);
    for (int i = 0; i < CHANGES; i++) {
      byte[] bytes = whole.clone();
      bytes[choice.nextInt(i % 2 == 0 ? 200 : bytes.length)] ^= (byte) (1 << choice.nextInt(8));
      assertThrows(TableException.class, () -> {
        try (SharedTable table = open(bytes)) {
          table.verify();
        }
      });
    }
  }

  @Test
  void aCutOrLengthenedFileIsFound() throws IOException {
    byte[] whole = write(new RandomTable(4));
    for (int length : new int[] {0, 1, 7, 8, 100, 4095, 4096, whole.length - 1, whole.length + 1}) {
      byte[] changed = Arrays.copyOf(whole, length);
      String message = assertThrows(TableException.class, () -> open(changed).close()).getMessage();
      assertTrue(message.contains("damaged.ytab"), message);
    }
  }

  /** A file that is read by position is refused exactly if opening it would be. */
  @Test
  void aFileOfAnotherSystemIsCheckedAsAMappedOne() throws IOException {
    Random choice = new Random(5);
    int refused = 0;
    for (int seed = 200; seed < 200 + TABLES; seed++) {
      byte[] whole = write(new RandomTable(seed));
      check(whole);
      for (int i = 0; i < 8; i++) {
        byte[] bytes = i == 0 ? Arrays.copyOf(whole, choice.nextInt(whole.length)) : whole.clone();
        if (bytes.length > 0) {
          bytes[choice.nextInt(i % 2 == 0 ? bytes.length : Math.min(bytes.length, 240))] ^= (byte) (1 << choice.nextInt(8));
        }
        String opened = failure(() -> open(bytes).close());
        assertEquals(opened, failure(() -> check(bytes)));
        refused += opened == null ? 0 : 1;
      }
    }
    assertTrue(refused > TABLES, "only " + refused + " were refused");
    IOException lost = assertThrows(IOException.class, () -> SharedTable.check("far", BLOCK, (at, target, offset, length) -> {
      throw new IOException("lost");
    }));
    assertEquals("lost", lost.getMessage());
  }

  private void check(byte[] bytes) throws IOException {
    SharedTable.check(folder.resolve("damaged.ytab").toString(), bytes.length,
        (at, target, offset, length) -> System.arraycopy(bytes, Math.toIntExact(at), target, offset, length));
  }

  private static String failure(Executable run) {
    try {
      run.execute();
      return null;
    } catch (Throwable e) {
      return e.toString();
    }
  }

  /** Sums are right again after a change: offsets and lengths lead anywhere, and must be checked. */
  @Test
  void wrongNumbersWithRightSumsEndNothing() throws IOException {
    Random choice = new Random(2);
    int refused = 0;
    for (int seed = 100; seed < 100 + TABLES; seed++) {
      RandomTable random = new RandomTable(seed);
      byte[] whole = write(random);
      for (int i = 0; i < CHANGES / 4; i++) {
        byte[] bytes = whole.clone();
        for (int n = 1 + choice.nextInt(3); n > 0; n--) {
          int at = i % 4 == 0 ? choice.nextInt(64 + 9 * 16) : choice.nextInt(bytes.length);
          bytes[at] = (byte) (choice.nextBoolean() ? bytes[at] ^ 1 << choice.nextInt(8) : choice.nextInt());
        }
        refused += isRefused(mend(bytes), random) ? 1 : 0;
      }
    }
    assertTrue(refused > CHANGES, "only " + refused + " were refused");
  }

  /** A change of the bytes of a file. */
  private interface Change {
    void make(ByteBuffer file, int groups);
  }

  @Test
  void wrongOffsetsOfGroupsAreFound() throws IOException {
    for (int endBytes : new int[] {2, 4}) {
      int first = 8;
      offsetsAreFound(endBytes, (file, groups) -> {
        // The begin of the second slot is behind its end.
        file.put(groups + first + endBytes + endBytes - 1, (byte) 0x7f);
      });
      offsetsAreFound(endBytes, (file, groups) -> file.put(groups + first + 17 * endBytes - 1, (byte) 0xff));
      for (long base : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE - 4096, 1L << 62, 1 << 20}) {
        offsetsAreFound(endBytes, (file, groups) -> file.putLong(groups, base));
      }
      // All of the group is within the section but for the last row's last byte.
      offsetsAreFound(endBytes, (file, groups) -> {
        long rows = file.getLong(64 + 4 * 16 + 8);
        int at = groups + first + 16 * endBytes;
        int end = endBytes == 2 ? file.getShort(at) & 0xffff : file.getInt(at);
        file.putLong(groups, rows - end + 1);
      });
    }
  }

  /** Rows of different lengths; some offset of the first group has changed. */
  private void offsetsAreFound(int endBytes, Change change) throws IOException {
    TableWriter writer = new TableWriter("key:i64,name:utf8", "key");
    int rows = 400;
    for (long key = 0; key < rows; key++) {
      writer.add(key, "n".repeat(1 + (int) key % 50) + (key == 7 && endBytes == 4 ? "long".repeat(20_000) : ""));
    }
    Path path = folder.resolve("whole.ytab");
    writer.write(path);
    byte[] bytes = Files.readAllBytes(path);
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(endBytes, file.getInt(56));
    change.make(file, (int) file.getLong(64 + 3 * 16));
    // Most are missing: they have all slots.
    long[] keys = LongStream.range(0, 50 * rows).toArray();
    try (SharedTable table = open(mend(bytes))) {
      isFound(() -> table.verify());
      isFound(() -> table.forEach(row -> {
      }));
      isFound(() -> {
        for (long key : keys) {
          Row row = table.get(key);
          assertTrue(row == null || row.getLong("key") == key);
        }
      });
      Batch batch = table.batch();
      isFound(() -> {
        int unused = batch.find(keys, 0, keys.length);
      });
      assertEquals(0, batch.size());
      assertFalse(batch.has(0));
    }
  }

  private static void isFound(Executable use) {
    String message = assertThrows(TableException.class, use).getMessage();
    assertTrue(message.matches(".*damaged.ytab: the table is damaged: (the rows of the slot \\d+ are outside of their "
        + "section|the lengths of the row at \\d+ do not fit it); build it again"), message);
  }

  @Test
  void bucketsAreAPowerOfTwo() throws IOException {
    byte[] bytes = write(new RandomTable(3));
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int parts = file.getInt(40);
    int pilots = file.getInt(72 + 16);
    // As many pilots in all, in parts of another number of buckets.
    assertEquals(pilots, parts * file.getInt(44));
    int buckets = 3;
    file.putInt(44, buckets);
    file.putLong(72 + 16, (long) parts * buckets);
    assertTrue(parts * buckets <= file.getLong(64 + 2 * 16) - file.getLong(64 + 16), "the section has room");
    refuses(mend(bytes), "the numbers of its header contradict each other; build it again");
    file.putInt(44, 0);
    file.putLong(72 + 16, 0);
    refuses(mend(bytes), "the numbers of its header contradict each other; build it again");
  }

  @Test
  void otherVersionsAreRefused() throws IOException {
    byte[] bytes = write(new RandomTable(3));
    bytes[8] = 1;
    refuses(mend(bytes), "the table has version 1: build it again with this version of yunti table build");
    bytes[8] = 3;
    refuses(mend(bytes), "has version 3 of the format; this reader reads 2: build the table again, or take the reader "
        + "of the program that built it");
  }

  private void refuses(byte[] bytes, String why) {
    String message = assertThrows(TableException.class, () -> open(bytes).close()).getMessage();
    assertTrue(message.endsWith(why) && message.contains("damaged.ytab"), message);
  }

  private boolean isRefused(byte[] bytes, RandomTable random) throws IOException {
    try (SharedTable table = open(bytes)) {
      boolean isWrong = false;
      try {
        for (Row row : table) {
          row.toString();
        }
      } catch (TableException e) {
        isWrong = true;
      }
      for (Object[] row : random.rows) {
        try {
          Row found = table.get(random.keyOf(row));
          if (found != null) {
            found.toString();
          }
        } catch (TableException e) {
          isWrong = true;
        } catch (IllegalArgumentException e) {
          // The schema has another key now.
          isWrong = true;
        }
      }
      table.verify();
      return isWrong;
    } catch (TableException e) {
      return true;
    }
  }

  /** Makes the sums right. */
  private static byte[] mend(byte[] bytes) {
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    file.putInt(4092, sum(bytes, 0, 4092));
    long sums = file.getLong(64 + 8 * 16);
    if (0 <= sums && sums <= bytes.length) {
      for (int begin = 0, at = (int) sums; begin < sums && at + 4 <= bytes.length; begin += BLOCK, at += 4) {
        file.putInt(at, sum(bytes, begin, (int) Math.min(sums, begin + BLOCK)));
      }
    }
    return bytes;
  }

  private static int sum(byte[] bytes, int begin, int end) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, begin, end - begin);
    return (int) sum.getValue();
  }
}
