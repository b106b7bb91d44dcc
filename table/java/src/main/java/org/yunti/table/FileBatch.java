package org.yunti.table;

import java.util.Arrays;

import org.yunti.table.format.KeyHash;

/**
 * Lookups of many keys at once in a mapped file: first all hashes, then the pilots of all, then their groups, then
 * their rows, so that the processor waits for many cache lines at a time. It allocates nothing once its arrays have
 * grown.
 */
final class FileBatch extends Batch {
  private final SharedTable table;
  private final Cells row;
  private final Key key;
  /** Hashes, then slots. */
  private long[] hashes = new long[0];
  /** Begins of slots, then of rows; -1: there is none. */
  private long[] begins = hashes;
  private long[] ends = hashes;
  private long[] slotEnds = hashes;
  private int size;

  FileBatch(SharedTable table) {
    this.table = table;
    row = table.row();
    key = table.key();
  }

  private void begin(int count) {
    // Until the lookup ends: one that finds damage has no rows.
    size = 0;
    if (hashes.length < count) {
      hashes = new long[count];
      begins = new long[count];
      ends = new long[count];
      slotEnds = new long[count];
    }
  }

  @Override
  public int find(long[] keys, int from, int count) {
    table.requireInteger();
    begin(count);
    try {
      return findIntegers(keys, from, count);
    } catch (InternalError e) {
      throw table.file().cut(e);
    }
  }

  private int findIntegers(long[] keys, int from, int count) {
    long start = table.start();
    for (int i = 0; i < count; i++) {
      hashes[i] = KeyHash.hash(keys[from + i], start);
    }
    if (!locate(count)) {
      return 0;
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
      found += keep(i, moveToFirst(i) && table.isKey(row, keys[from + i]));
    }
    size = count;
    return found;
  }

  @Override
  public int find(String[] keys, int from, int count) {
    table.requireBytes();
    begin(count);
    try {
      return findTexts(keys, from, count);
    } catch (InternalError e) {
      throw table.file().cut(e);
    }
  }

  private int findTexts(String[] keys, int from, int count) {
    for (int i = 0; i < count; i++) {
      hashes[i] = key.clear().add(keys[from + i]).hash(table.start());
    }
    if (!locate(count)) {
      return 0;
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
      found += keep(i, moveToFirst(i) && key.clear().add(keys[from + i]).isOf(row));
    }
    size = count;
    return found;
  }

  @Override
  public int find(Object[][] keys, int from, int count) {
    begin(count);
    try {
      return findKeys(keys, from, count);
    } catch (InternalError e) {
      throw table.file().cut(e);
    }
  }

  private int findKeys(Object[][] keys, int from, int count) {
    for (int i = 0; i < count; i++) {
      hashes[i] = Table.fill(key, keys[from + i]).hash(table.start());
    }
    if (!locate(count)) {
      return 0;
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
      found += keep(i, moveToFirst(i) && Table.fill(key, keys[from + i]).isOf(row));
    }
    size = count;
    return found;
  }

  private int keep(int i, boolean isFound) {
    begins[i] = isFound ? row.begin : -1;
    ends[i] = row.end;
    return isFound ? 1 : 0;
  }

  /** Finds the slots of all hashes. Returns false if the table is empty. */
  private boolean locate(int count) {
    if (table.isEmpty()) {
      Arrays.fill(begins, 0, count, -1);
      size = count;
      return false;
    }
    Slots index = table.slots();
    boolean isRight = index.isRight();
    for (int i = 0; i < count; i++) {
      hashes[i] = index.slot(hashes[i], index.bucket(hashes[i]), isRight);
    }
    for (int i = 0; i < count; i++) {
      begins[i] = index.moveToAll(hashes[i], row, isRight) ? row.begin : -1;
      slotEnds[i] = row.slotEnd;
    }
    index.touch(begins, slotEnds, count, isRight);
    return true;
  }

  /** Moves to the first row of a slot that {@link #locate} found. Returns false if there is none. */
  private boolean moveToFirst(int i) {
    if (begins[i] < 0) {
      return false;
    }
    row.moveToSlot(begins[i], slotEnds[i]);
    table.slots().moveToFirst(row);
    return true;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public boolean has(int i) {
    return i < size && begins[i] >= 0;
  }

  @Override
  public boolean move(int i, Cells row) {
    table.requireOwn(row);
    if (!has(i)) {
      return false;
    }
    row.slotEnd = slotEnds[i];
    row.move(begins[i], ends[i]);
    return true;
  }
}
