package org.yunti.table;

import java.util.Arrays;

import org.yunti.table.format.Xxh64;

/**
 * Lookups of many keys at once in a mapped file: first all hashes, then the index bytes of all, then their groups, then
 * their rows, so that the processor waits for many cache lines at a time. It allocates nothing once its arrays have
 * grown.
 */
final class FileBatch extends Batch {
  private final SharedTable table;
  private final Cells row;
  private final Key key;
  private long[] hashes = new long[0];
  /** Places of pilots, then of groups, then the begins of rows; -1: the key has no row. */
  private long[] places = hashes;
  private long[] slots = hashes;
  private long[] ends = hashes;
  private int size;

  FileBatch(SharedTable table) {
    this.table = table;
    row = table.row();
    key = table.key();
  }

  private void begin(int count) {
    size = count;
    if (hashes.length < count) {
      hashes = new long[count];
      places = new long[count];
      slots = new long[count];
      ends = new long[count];
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
    long seed = table.seed();
    for (int i = 0; i < count; i++) {
      hashes[i] = Xxh64.hash(keys[from + i], seed);
    }
    if (!locate()) {
      return 0;
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
      found += keep(i, table.slots().move(slots[i], places[i], row) && table.isKey(row, keys[from + i]));
    }
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
      hashes[i] = key.clear().add(keys[from + i]).hash(table.seed());
    }
    if (!locate()) {
      return 0;
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
      found += keep(i, table.slots().move(slots[i], places[i], row) && key.clear().add(keys[from + i]).isOf(row));
    }
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
      hashes[i] = Table.fill(key, keys[from + i]).hash(table.seed());
    }
    if (!locate()) {
      return 0;
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
      found += keep(i, table.slots().move(slots[i], places[i], row) && Table.fill(key, keys[from + i]).isOf(row));
    }
    return found;
  }

  private int keep(int i, boolean isFound) {
    places[i] = isFound ? row.begin : -1;
    ends[i] = row.end;
    slots[i] = row.slotEnd;
    return isFound ? 1 : 0;
  }

  /** Finds the groups of all hashes. Returns false if the table is empty. */
  private boolean locate() {
    if (table.isEmpty()) {
      Arrays.fill(places, 0, size, -1);
      return false;
    }
    Slots index = table.slots();
    for (int i = 0; i < size; i++) {
      places[i] = index.pilotAt(hashes[i]);
    }
    for (int i = 0; i < size; i++) {
      slots[i] = index.slot(hashes[i], places[i]);
    }
    for (int i = 0; i < size; i++) {
      places[i] = index.near(slots[i]);
    }
    index.touch(places, size);
    return true;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public boolean has(int i) {
    return i < size && places[i] >= 0;
  }

  @Override
  public boolean move(int i, Cells row) {
    table.requireOwn(row);
    if (!has(i)) {
      return false;
    }
    row.slotEnd = slots[i];
    row.move(places[i], ends[i]);
    return true;
  }
}
