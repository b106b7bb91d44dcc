package org.yunti.web.velocity.output;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Test that the bytes equal those of {@link OutputStreamWriter}, however the text is cut. */
class ByteWriterTest {
  private static final List<Charset> CHARSETS = List.of(StandardCharsets.UTF_8, StandardCharsets.ISO_8859_1,
      StandardCharsets.US_ASCII, StandardCharsets.UTF_16, StandardCharsets.UTF_16LE, Charset.forName("GB18030"),
      Charset.forName("Shift_JIS"), Charset.forName("ISO-2022-JP"), Charset.forName("windows-1252"));

  /**
   * Returns random text: characters of every length in UTF-8, halves of pairs, whole pairs, and characters that change
   * the state of encoders.
   */
  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    int runs = random.nextInt(6);
    for (int i = 0; i < runs; i++) {
      int length = random.nextInt(4) == 0 ? random.nextInt(3000) : random.nextInt(12);
      int kind = random.nextInt(7);
      for (int k = 0; k < length; k++) {
        switch (kind) {
          case 0 -> text.append((char) random.nextInt(0x80));
          case 1 -> text.append((char) random.nextInt(0x100));
          case 2 -> text.append((char) (0x80 + random.nextInt(0x780)));
          case 3 -> text.append((char) (0x4E00 + random.nextInt(0x5000)));
          case 4 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
          case 5 -> text.append((char) (0xD800 + random.nextInt(0x800)));
          default -> text.append((char) random.nextInt(0x10000));
        }
      }
    }
    return text.toString();
  }

  private static void write(Random random, String text, Writer writer) throws IOException {
    if (writer instanceof ByteWriter bytes && random.nextBoolean()) {
      bytes.write(new StaticText(text));
      return;
    }
    switch (random.nextInt(4)) {
      case 0 -> writer.write(text);
      case 1 -> writer.write(text.toCharArray());
      case 2 -> {
        int cut = random.nextInt(text.length() + 1);
        writer.write(text, 0, cut);
        writer.write(text.toCharArray(), cut, text.length() - cut);
      }
      default -> {
        for (char c : text.toCharArray()) {
          writer.write(c);
        }
      }
    }
  }

  @Test
  void encodesRandomTextInEveryCharset() throws IOException {
    for (long seed = 0; seed < 400; seed++) {
      for (Charset charset : CHARSETS) {
        Random random = new Random(seed);
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        ByteArrayOutputStream streamed = new ByteArrayOutputStream();
        ByteWriter kept = ByteWriter.buffer(charset);
        try (Writer stock = new OutputStreamWriter(expected, charset); ByteWriter writer =
            ByteWriter.to(streamed, charset)) {
          for (int n = random.nextInt(8); n > 0; n--) {
            String text = text(random);
            stock.write(text);
            write(random, text, writer);
            write(random, text, kept);
          }
        }
        kept.close();
        assertArrayEquals(expected.toByteArray(), streamed.toByteArray(), charset + ", seed " + seed);
        assertArrayEquals(expected.toByteArray(), kept.toByteArray(), charset + ", kept, seed " + seed);
      }
    }
  }

  @Test
  void writesNumbersAsTheLibrary() throws IOException {
    Random random = new Random(1);
    ByteWriter writer = ByteWriter.buffer(StandardCharsets.UTF_8);
    for (int i = 0; i < 300_000; i++) {
      long whole = random.nextLong() >> random.nextInt(64);
      check(writer, whole);
      check(writer, random.nextInt(2_000_000_000) / 1000.0);
      check(writer, -Math.round(random.nextDouble() * 1e7) / 100.0);
      check(writer, random.nextDouble() * Math.pow(10, random.nextInt(12) - 4));
      check(writer, Double.longBitsToDouble(random.nextLong()));
    }
    for (double number : new double[] {0, -0.0, 0.001, 0.00099, 1e7, 9999999.999, Double.NaN, Double.POSITIVE_INFINITY,
        0.1 + 0.2, 100}) {
      check(writer, number);
    }
    check(writer, Long.MIN_VALUE);
    check(writer, Long.MAX_VALUE);
  }

  private static void check(ByteWriter writer, long number) throws IOException {
    writer.reset();
    writer.writeNumber(number);
    assertEquals(Long.toString(number), new String(writer.toByteArray(), StandardCharsets.UTF_8));
  }

  private static void check(ByteWriter writer, double number) throws IOException {
    writer.reset();
    writer.writeNumber(number);
    assertEquals(Double.toString(number), new String(writer.toByteArray(), StandardCharsets.UTF_8));
  }

  @Test
  void replacesHalfAPairBeforeANumber() throws IOException {
    ByteWriter writer = ByteWriter.buffer(StandardCharsets.UTF_8);
    writer.write("\uD83D");
    writer.writeNumber(5);
    writer.write("\uD83D");
    writer.writeNumber(2.5);
    writer.close();
    assertEquals("?5?2.5", new String(writer.toByteArray(), StandardCharsets.UTF_8));
  }
}
