package org.yunti.table.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;
import org.yunti.table.TableException;
import org.yunti.table.memory.ArrayMemory;

/** The flag of lookups: it is set with the last block that they read, whatever else is checked, by any threads. */
class BlocksTest {
  private static final int BLOCK = 1 << 16;
  private static final int BLOCKS = 10;
  private static final int SUMS = BLOCKS * BLOCK;

  private final byte[] bytes = new byte[SUMS + 4 * BLOCKS];

  private Blocks blocks(Place... lookups) {
    ByteBuffer sums = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < BLOCKS; i++) {
      CRC32C sum = new CRC32C();
      sum.update(bytes, i * BLOCK, BLOCK);
      sums.putInt(SUMS + 4 * i, (int) sum.getValue());
    }
    return new Blocks(new ArrayMemory("some.ytab", bytes), "some.ytab", new Place(SUMS, 4 * BLOCKS), lookups);
  }

  /** A section from a block to another. */
  private static Place place(double begin, double end) {
    return new Place((long) (begin * BLOCK), (long) ((end - begin) * BLOCK));
  }

  private static void check(Blocks blocks, int block) {
    blocks.check((long) block * BLOCK + 7, (long) block * BLOCK + 8);
  }

  @Test
  void lookupsAreDoneWithTheirOwnBlocks() {
    // Blocks 1, 2, 5 and 6: the third section begins in the last block of the second.
    Blocks blocks = blocks(place(1.5, 2.5), place(5, 6.5), place(6.5, 7));
    for (int block : new int[] {0, 1, 2, 2, 5, 9, 7}) {
      check(blocks, block);
      assertFalse(blocks.isDone());
    }
    check(blocks, 6);
    assertTrue(blocks.isDone());
  }

  @Test
  void emptySectionsHaveNoBlocks() {
    assertTrue(blocks(place(3, 3), place(3, 3)).isDone());
    Blocks blocks = blocks(place(1, 2), place(2, 2), place(2, 2));
    check(blocks, 2);
    assertFalse(blocks.isDone());
    check(blocks, 1);
    assertTrue(blocks.isDone());
  }

  @Test
  void aDamagedBlockIsNeverDone() {
    Blocks blocks = blocks(place(1, 3));
    bytes[2 * BLOCK + 99] ^= 1;
    check(blocks, 1);
    for (int i = 0; i < 3; i++) {
      String message = assertThrows(TableException.class, () -> check(blocks, 2)).getMessage();
      assertEquals("some.ytab: the table is damaged: the checksum of the bytes 131072 to 196608 is wrong; build it "
          + "again", message);
      assertFalse(blocks.isDone());
    }
  }

  @Test
  void threadsThatCheckOneBlockCountItOnce() throws InterruptedException {
    for (int round = 0; round < 50; round++) {
      Blocks blocks = blocks(place(0, BLOCKS));
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Thread thread = new Thread(() -> {
          for (int block = 0; block < BLOCKS - 1; block++) {
            check(blocks, block);
          }
        });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertFalse(blocks.isDone());
      check(blocks, BLOCKS - 1);
      assertTrue(blocks.isDone());
    }
  }
}
