package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yunti.table.format.Crc32c;
import org.yunti.table.format.KeyHash;
import org.yunti.table.written.Hash;

/** Hash and checksum against other implementations. */
class FormatTest {
  @Test
  void hashesAreThoseOfTheFormat() {
    Random random = new Random(2);
    for (int length = 0; length < 200; length++) {
      for (int i = 0; i < 20; i++) {
        byte[] key = new byte[length];
        random.nextBytes(key);
        byte[] within = new byte[length + 7];
        System.arraycopy(key, 0, within, 5, length);
        long seed = i == 0 ? 0 : random.nextLong();
        long hash = KeyHash.hash(within, 5, length, KeyHash.start(seed));
        assertEquals(Hash.of(key, seed), hash, "of " + length + " bytes");
      }
    }
  }

  /** Hashes of the begins of a text with the seed 1. */
  @ParameterizedTest
  @CsvSource({"0, 47e1424858597e42", "1, 4cdceebc26ac2588", "3, 6d10875ff38cff46", "5, 4de4bb834f15c37b",
      "8, 7e62a6a3239e3cc0", "12, d76b515e4754e0fb", "16, 762219c048a024ca",
      "17, 90d8f54eb57dc0b0", "36, a2a5938d402970cb"})
  void hashesHaveTheValuesOfTheFormatsPage(int length, String hash) {
    byte[] text = "0123456789abcdefghijklmnopqrstuvwxyz".getBytes(StandardCharsets.US_ASCII);
    assertEquals(hash, String.format("%016x", KeyHash.hash(text, 0, length, KeyHash.start(1))));
  }

  @Test
  void theHashOfANumberIsThatOfItsBytes() {
    byte[] bytes = {1, 2, 3, 4, 5, 6, 7, (byte) 0x88};
    long start = KeyHash.start(9);
    assertEquals(KeyHash.hash(bytes, 0, 8, start), KeyHash.hash(0x8807060504030201L, start));
  }

  @Test
  void sumsOfJava8AreThoseOfTheJdk() {
    Random random = new Random(1);
    for (int length = 0; length < 300; length++) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      CRC32C expected = new CRC32C();
      expected.update(bytes, 0, length);
      Crc32c sum = new Crc32c();
      sum.update(bytes, 0, length / 3);
      sum.update(bytes, length / 3, length - length / 3);
      assertEquals(expected.getValue(), sum.getValue());
    }
  }
}
