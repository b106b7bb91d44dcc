package org.yunti.table.format;

import java.nio.charset.StandardCharsets;

import org.yunti.table.TableException;
import org.yunti.table.memory.Memory;

/** The texts of a {@code dict} column. A text becomes a String once, unless there are many. */
public final class Dictionary {
  /** Bytes before the ends of the texts. */
  private static final int HEAD_BYTES = 16;
  private static final int KEPT_MAX = 1 << 16;

  private final TableFile file;
  private final long count;
  private final long ends;
  private final long texts;
  private final long textBytes;
  private final String[] kept;

  /** Reads the dictionary at a place of section 5. */
  Dictionary(TableFile file, long at) {
    this.file = file;
    Place section = file.header.dictionaries;
    require(at <= section.end() - HEAD_BYTES);
    file.blocks.check(at, at + HEAD_BYTES);
    count = file.memory.getLong(at);
    textBytes = file.memory.getLong(at + 8);
    ends = at + HEAD_BYTES;
    require(count >= 0 && count <= (section.end() - ends) / 4);
    texts = ends + 4 * count;
    require(textBytes >= 0 && textBytes <= section.end() - texts);
    kept = new String[(int) Math.min(count, KEPT_MAX)];
  }

  /** Returns where the next dictionary begins. */
  long end() {
    return texts + textBytes + 7 & -8;
  }

  public long begin(int number) {
    require(Integer.toUnsignedLong(number) < count);
    long at = ends + 4 * Integer.toUnsignedLong(number);
    return texts + (number == 0 ? 0 : end(at - 4));
  }

  public long end(int number) {
    require(Integer.toUnsignedLong(number) < count);
    long begin = begin(number);
    long end = texts + end(ends + 4 * Integer.toUnsignedLong(number));
    require(begin <= end && end <= texts + textBytes);
    if (begin < end) {
      file.blocks.check(begin, end);
    }
    return end;
  }

  private long end(long at) {
    file.blocks.check(at, at + 4);
    return file.memory.getInt(at) & 0xffff_ffffL;
  }

  public String text(int number) {
    if (0 <= number && number < kept.length) {
      String text = kept[number];
      return text == null ? kept[number] = decode(number) : open(text);
    }
    return decode(number);
  }

  private String open(String text) {
    if (file.memory.isClosed()) {
      file.memory.getByte(0);
    }
    return text;
  }

  private String decode(int number) {
    long end = end(number);
    return text(file.memory, begin(number), end);
  }

  /** Decodes UTF-8. */
  public static String text(Memory memory, long begin, long end) {
    int length = Math.toIntExact(end - begin);
    byte[] bytes = new byte[length];
    memory.copy(begin, bytes, 0, length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Checks all texts. */
  public void checkAll() {
    for (long number = 0; number < count; number++) {
      end((int) number);
    }
  }

  private void require(boolean is) {
    if (!is) {
      throw new TableException(file.path + ": the table is damaged: a text of a dictionary is outside of it; build it "
          + "again");
    }
  }
}
