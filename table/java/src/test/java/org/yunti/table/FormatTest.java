package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.CRC32C;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yunti.table.format.Crc32c;
import org.yunti.table.format.Xxh64;

/** Hash and checksum against published values and other implementations. */
class FormatTest {
  @ParameterizedTest
  @CsvSource({"'', ef46db3751d8e999", "a, d24ec4f1a98c6e5b", "abc, 44bc2cf5ad770999",
      "Nobody inspects the spammish repetition, fbcea83c8a378bf1"})
  void hashesAreThePublishedOnes(String text, String hash) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    assertEquals(hash, Long.toHexString(Xxh64.hash(bytes, 0, bytes.length, 0)));
  }

  @Test
  void theHashOfANumberIsThatOfItsBytes() {
    byte[] bytes = {1, 2, 3, 4, 5, 6, 7, (byte) 0x88};
    assertEquals(Xxh64.hash(bytes, 0, 8, 9), Xxh64.hash(0x8807060504030201L, 9));
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
