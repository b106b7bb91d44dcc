package org.yunti.hadoop.conformance.cases.keys;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.Text;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/**
 * Byte-string keys: every byte value at each of the first eight positions, the empty key, and keys that are prefixes of
 * others. Some common prefixes exceed any fixed-width prefix of a key.
 */
public final class BinaryKeys {
  private BinaryKeys() {}

  public static List<Case> cases() {
    Draw<IntWritable> numbers = (random, record) -> new IntWritable(random.nextInt());
    List<Case> cases = new ArrayList<>();
    cases.add(Traced.of("keys/bytes", BytesWritable.class, BinaryKeys::anyBytes, IntWritable.class, numbers));
    cases.add(Traced.of("keys/bytes-long-prefixes", BytesWritable.class, BinaryKeys::longPrefix, IntWritable.class,
        numbers));
    cases.add(Traced.of("keys/text", Text.class, BinaryKeys::anyText, IntWritable.class, numbers).onCluster());
    cases.add(Traced.of("keys/text-not-utf8", Text.class, BinaryKeys::textOfBytes, IntWritable.class, numbers));
    cases.add(Traced.of("keys/text-long", Text.class, BinaryKeys::longText, IntWritable.class, numbers));
    cases.add(Traced.of("keys/text-zero-bytes", Text.class, BinaryKeys::zeros, IntWritable.class, numbers));
    cases.add(Traced.of("keys/md5", MD5Hash.class, BinaryKeys::anyMd5, IntWritable.class, numbers));
    return cases;
  }

  /** @return random bytes of this length, of an object whose buffer is longer than its content */
  public static BytesWritable bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    BytesWritable writable = new BytesWritable();
    writable.set(bytes, 0, length);
    return writable;
  }

  private static BytesWritable anyBytes(Random random, int record) {
    if (record < 256) {
      byte[] key = new byte[record % 9];
      Arrays.fill(key, (byte) record);
      return new BytesWritable(key);
    }
    byte[] key = new byte[random.nextInt(12)];
    random.nextBytes(key);
    if (random.nextBoolean() && key.length > 0) {
      // Four values, so that keys collide and prefix each other; 0x00, 0x7f, 0x80 and 0xff sort wrongly if signed.
      for (int i = 0; i < key.length; i++) {
        key[i] = new byte[] {0, 0x7f, (byte) 0x80, (byte) 0xff}[key[i] & 3];
      }
    }
    return new BytesWritable(key);
  }

  private static BytesWritable longPrefix(Random random, int record) {
    byte[] key = new byte[random.nextInt(600)];
    Arrays.fill(key, (byte) 'p');
    if (key.length > 0 && random.nextBoolean()) {
      key[key.length - 1] = (byte) random.nextInt(256);
    }
    return new BytesWritable(key);
  }

  private static Text anyText(Random random, int record) {
    String[] alphabets = {"ab", "abcdefghijklmnopqrstuvwxyz", "\u00e4\u00f6\u00fc\u03b1\u03b2", "\u4e91\u68af\u8c37",
        "\ud83d\ude00\ud83d\ude01\uffff\ue000"};
    if (record == 0) {
      return new Text();
    }
    String alphabet = alphabets[random.nextInt(alphabets.length)];
    StringBuilder text = new StringBuilder();
    for (int length = random.nextInt(10); length > 0; length--) {
      int at = random.nextInt(alphabet.codePointCount(0, alphabet.length()));
      text.appendCodePoint(alphabet.codePointAt(alphabet.offsetByCodePoints(0, at)));
    }
    return new Text(text.toString());
  }

  private static Text textOfBytes(Random random, int record) {
    byte[] bytes = anyBytes(random, record).copyBytes();
    Text text = new Text();
    text.set(bytes, 0, bytes.length);
    return text;
  }

  /** Draws a Text with a length around 127, 128, 255 and 256 bytes, where its length field grows by a byte. */
  private static Text longText(Random random, int record) {
    int length = record < 300 ? record : random.nextInt(5000);
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) (record % 3 == 0 ? 'a' : 'b'));
    return new Text(new String(bytes, StandardCharsets.US_ASCII));
  }

  /** Draws keys that differ only in their trailing zero bytes, which zero padding of a prefix would merge. */
  private static Text zeros(Random random, int record) {
    Text text = new Text("k".repeat(random.nextInt(2)));
    text.append(new byte[16], 0, random.nextInt(17));
    return text;
  }

  private static MD5Hash anyMd5(Random random, int record) {
    return MD5Hash.digest(new byte[] {(byte) random.nextInt(400), (byte) random.nextInt(2)});
  }
}
