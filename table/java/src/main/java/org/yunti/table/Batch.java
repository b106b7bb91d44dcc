package org.yunti.table;

/** Lookups of many keys at once, and the rows that the last of them found. One thread at a time uses it. */
public abstract class Batch {
  protected Batch() {
  }

  /**
   * Looks up keys.
   *
   * @return how many have a row
   */
  public abstract int find(long[] keys, int from, int count);

  public abstract int find(String[] keys, int from, int count);

  /** Looks up keys of several columns, or of {@code bytes}: each is an array with the values of its columns. */
  public abstract int find(Object[][] keys, int from, int count);

  /** Returns the number of keys of the last lookup. */
  public abstract int size();

  public abstract boolean has(int i);

  /** Moves a row to the one of a key. Returns false if it has none. */
  public abstract boolean move(int i, Cells row);
}
