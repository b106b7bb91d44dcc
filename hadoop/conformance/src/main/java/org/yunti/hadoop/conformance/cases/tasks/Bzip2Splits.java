package org.yunti.hadoop.conformance.cases.tasks;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.compress.bzip2.CBZip2OutputStream;
import org.yunti.hadoop.conformance.input.FileInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.suite.Twin;

/** Texts in bzip2 files of several blocks, which both sides cut into splits: no line is lost or counted twice. */
public final class Bzip2Splits {
  /** Bytes of text in a block, nearly. */
  private static final int BLOCK = 100_000;

  private static final int LINE = 10;

  private Bzip2Splits() {}

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (int bytes : new int[] {997, 7_000, 30_000, 100_000}) {
      cases.add(cut("words-cut-at-" + bytes, bytes, FileInput.of("text/a.bz2", conf -> bzip2(words(4 * BLOCK)))));
    }
    // The first line of each file has another length, so that each byte of a line is the last one of some block.
    for (String end : new String[] {"\n", "\r\n", "\r"}) {
      String name = end.replace("\r", "cr").replace("\n", "lf");
      Case borders = cut(name + "-at-borders", 20_000);
      for (int shift = 0; shift < LINE; shift++) {
        byte[] text = lines(5 * BLOCK / 2, end, shift);
        borders.input(FileInput.of("text/" + shift + ".bz2", conf -> bzip2(text)));
      }
      cases.add(borders);
    }
    cases.add(cut("lines-of-blocks", 10_000, FileInput.of("text/a.bz2", conf -> bzip2(longLines()))));
    cases.add(cut("streams", 5_000, FileInput.of("text/a.bz2",
        conf -> bzip2(words(3), new byte[0], words(BLOCK * 2), new byte[0], new byte[0], words(500), words(BLOCK)))));
    cases.add(cut("empty-streams", 10, FileInput.of("text/a.bz2", conf -> bzip2(new byte[0], new byte[0]))));
    cases.add(cut("empty-lines", 50, FileInput.of("text/a.bz2", conf -> bzip2("\n".repeat(40 * BLOCK).getBytes(StandardCharsets.US_ASCII)))));
    return cases;
  }

  private static Case cut(String name, int splitBytes, Case.Input... inputs) {
    Case counted = Twin.of("bzip2/" + name, "text", WordCounts::combined, WordCounts.FOLDER).order(Order.EXACT);
    for (Case.Input input : inputs) {
      counted.input(input);
    }
    return Twin.cut(counted, splitBytes);
  }

  /** Returns one stream for each text, with the smallest blocks. */
  private static byte[] bzip2(byte[]... texts) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] text : texts) {
      all.write("BZ".getBytes(StandardCharsets.US_ASCII));
      try (CBZip2OutputStream out = new CBZip2OutputStream(all, 1)) {
        out.write(text);
      }
    }
    return all.toByteArray();
  }

  /** Returns words without runs of one letter, which a block would shorten; without a line end at the end. */
  private static byte[] words(int bytes) {
    Random random = new Random(bytes);
    StringBuilder text = new StringBuilder();
    while (text.length() < bytes) {
      text.append('w').append(random.nextInt(5000)).append(random.nextInt(12) == 0 ? '\n' : ' ');
    }
    return text.substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] lines(int bytes, String end, int shift) {
    Random random = new Random(shift);
    StringBuilder text = new StringBuilder().append("firstfirst", 0, shift).append(end);
    while (text.length() < bytes) {
      StringBuilder line = new StringBuilder();
      while (line.length() < LINE - end.length()) {
        line.append((char) ('a' + random.nextInt(3))).append(random.nextInt(10));
      }
      text.append(line, 0, LINE - end.length()).append(end);
    }
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns lines of which some are longer than two blocks, and one is longer than all before it. */
  private static byte[] longLines() {
    StringBuilder text = new StringBuilder();
    for (int blocks : new int[] {0, 2, 0, 0, 1, 5, 0}) {
      text.append("short line\n").append(new String(words(blocks * BLOCK + 7), StandardCharsets.US_ASCII).replace('\n', ' ')).append('\n');
    }
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }
}
