package org.yunti.table.frozen;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Xxh64Test {
  @ParameterizedTest
  @CsvSource({"'', ef46db3751d8e999", "a, d24ec4f1a98c6e5b", "abc, 44bc2cf5ad770999",
      "Nobody inspects the spammish repetition, fbcea83c8a378bf1"})
  void hashesAreThePublishedOnes(String text, String hash) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    assertEquals(hash, Long.toHexString(Xxh64.hash(bytes, 0, bytes.length, 0)));
  }
}
