package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.table.written.RandomTable;

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
