package org.yunti.table.format;

import java.util.zip.Checksum;

import org.yunti.table.TableException;
import org.yunti.table.memory.HeapBytes;
import org.yunti.table.memory.Memory;

/** The first 4096 bytes: numbers and places of the sections, which fit the file and each other. */
public final class Header {
  public static final int BYTES = 4096;
  public static final int VERSION = 2;
  /** {@code YTAB}, and bytes that a transfer as text changes, as a little-endian number. */
  private static final long MAGIC = 0x1A0A0D8942415459L;
  private static final int SEVERAL = 1;
  private static final int SORTED = 2;
  private static final int SECTIONS = 9;
  private static final int SECTIONS_AT = 64;
  /** Bytes of a group before its offsets, which are one more than its slots. */
  private static final int BASE_BYTES = 8;
  private static final int GROUP_SLOTS = 16;

  public final long keys;
  public final long rows;
  public final long seed;
  public final long parts;
  /** Buckets of each part, a power of two, and its slots. */
  public final long buckets;
  public final long slots;
  /** Bytes of each row; 0 if they differ or a key may have several rows. */
  public final long rowBytes;
  /** Bytes of an offset in a group: 2 or 4; 0 if all rows have the same length. */
  public final int endBytes;
  public final boolean hasSeveral;
  public final boolean isSorted;

  public final Place schema;
  public final Place pilots;
  public final Place used;
  public final Place groups;
  public final Place rowsPlace;
  public final Place dictionaries;
  public final Place order;
  public final Place fences;
  public final Place sums;

  private final String path;

  public Header(Memory memory, String path) {
    this.path = path;
    byte[] bytes = new byte[BYTES];
    int present = (int) Math.min(BYTES, memory.bytes());
    memory.copy(0, bytes, 0, present);
    if (present < 8 || HeapBytes.getLong(bytes, 0) != MAGIC) {
      throw new TableException(path + " is no shared table; build one by: yunti table build");
    }
    require(present == BYTES, "it is cut");
    int version = HeapBytes.getInt(bytes, 8);
    if (version == 1) {
      throw new TableException(path + ": the table has version 1: build it again with this version of yunti table "
          + "build");
    }
    if (version != VERSION) {
      throw new TableException(path + " has version " + version + " of the format; this reader reads " + VERSION
          + ": build the table again, or take the reader of the program that built it");
    }
    Checksum sum = Crc32c.create();
    sum.update(bytes, 0, BYTES - 4);
    require((int) sum.getValue() == HeapBytes.getInt(bytes, BYTES - 4), "the checksum of its header is wrong");

    int flags = HeapBytes.getInt(bytes, 12);
    if ((flags & ~(SEVERAL | SORTED)) != 0) {
      throw new TableException(path + " has flags of a later format (" + flags + "): take the reader of the program that "
          + "built it");
    }
    hasSeveral = (flags & SEVERAL) != 0;
    isSorted = (flags & SORTED) != 0;
    keys = HeapBytes.getLong(bytes, 16);
    rows = HeapBytes.getLong(bytes, 24);
    seed = HeapBytes.getLong(bytes, 32);
    parts = unsigned(bytes, 40);
    buckets = unsigned(bytes, 44);
    slots = unsigned(bytes, 48);
    rowBytes = unsigned(bytes, 52);
    endBytes = HeapBytes.getInt(bytes, 56);

    Place[] places = new Place[SECTIONS];
    long behind = BYTES;
    for (int i = 0; i < SECTIONS; i++) {
      int at = SECTIONS_AT + 16 * i;
      Place place = new Place(HeapBytes.getLong(bytes, at), HeapBytes.getLong(bytes, at + 8));
      require(place.begin >= behind && place.begin % 8 == 0 && place.bytes >= 0, "its sections overlap");
      require(place.begin <= memory.bytes() && place.bytes <= memory.bytes() - place.begin, "it is cut");
      places[i] = place;
      behind = place.end();
    }
    require(behind == memory.bytes(), "it has bytes behind its end");
    schema = places[0];
    pilots = places[1];
    used = places[2];
    groups = places[3];
    rowsPlace = places[4];
    dictionaries = places[5];
    order = places[6];
    fences = places[7];
    sums = places[8];
    requireFit();
  }

  private static long unsigned(byte[] bytes, int at) {
    return HeapBytes.getInt(bytes, at) & 0xffff_ffffL;
  }

  /** Slots of all parts. */
  public long allSlots() {
    return parts * slots;
  }

  public boolean isGrouped() {
    return rowBytes == 0;
  }

  /** Bytes of a group of 16 slots: where its rows begin, and the offsets of their begins and of the end. */
  public int groupBytes() {
    return BASE_BYTES + (GROUP_SLOTS + 1) * endBytes;
  }

  /** Bytes of a number in the order of keys. */
  public int orderBytes() {
    return allSlots() > 0xffff_ffffL ? 8 : 4;
  }

  private void requireFit() {
    long all = allSlots();
    boolean isGrouped = isGrouped();
    // Products of numbers of 32 bits: a negative one has overflowed, and is larger than any file.
    boolean fits = all >= 0 && parts * buckets >= 0
        && 0 <= keys && keys <= all && keys <= rows && (keys == rows || hasSeveral)
        && (keys == 0) == (all == 0) && (parts == 0 || buckets > 0) && Long.bitCount(buckets) <= 1
        && (isGrouped ? endBytes == 2 || endBytes == 4 || all == 0 && endBytes == 0 : endBytes == 0)
        && !(hasSeveral && !isGrouped)
        && pilots.bytes == parts * buckets
        && used.bytes == (isGrouped ? 0 : ceil(all, 64) * 8)
        && (isGrouped ? groups.bytes % groupBytes() == 0 && groups.bytes / groupBytes() == ceil(all, GROUP_SLOTS)
            : groups.bytes == 0)
        && (isGrouped || (all == 0 || rowBytes <= Long.MAX_VALUE / all) && rowsPlace.bytes == all * rowBytes)
        && order.bytes == (isSorted ? keys * orderBytes() : 0)
        && fences.bytes == (isSorted ? ceil(keys, 64) * 8 : 0)
        && sums.bytes == ceil(sums.begin, 1 << 16) * 4;
    require(fits, "the numbers of its header contradict each other");
  }

  private static long ceil(long n, long by) {
    return n / by + (n % by == 0 ? 0 : 1);
  }

  private void require(boolean is, String what) {
    if (!is) {
      throw new TableException(path + ": the table is damaged: " + what + "; build it again");
    }
  }
}
