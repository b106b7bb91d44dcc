package org.yunti.table;

import java.io.IOException;
import java.util.Map;

import org.yunti.table.format.Source;
import org.yunti.table.schema.Schema;

/**
 * Lookups of rows by their keys: in a file of this machine ({@link SharedTable}), or at servers
 * ({@link org.yunti.table.client.TableClient}). Threads share one table.
 *
 * <p>A class and no interface, so that the JIT inlines lookups without a check while a JVM has one kind of tables.
 */
public abstract class Table implements AutoCloseable {
  /** A row for each thread whose lookup needs the array of a key. */
  private final ThreadLocal<Row> spare = ThreadLocal.withInitial(this::row);

  protected Table() {
  }

  /** Closes the table for all threads. */
  @Override
  public abstract void close();

  public abstract boolean isClosed();

  /** Returns the number of keys. */
  public abstract long size();

  /** Returns the number of rows, which is the number of keys unless a key may have several. */
  public abstract long rowCount();

  /** Returns true if a key may have several rows. */
  public abstract boolean hasSeveral();

  /** Returns the columns of rows and of the key. They are the same objects for the life of the table. */
  public abstract Schema schema();

  /** Returns the table's file or servers, for messages. */
  public abstract String name();

  /**
   * Returns the table that has taken this one's place, or this table if it is still the same. This table goes on with
   * its old rows until it is closed.
   */
  public abstract Table reopen() throws IOException;

  /** Returns the number of a column. */
  public final int column(String name) {
    return schema().column(name);
  }

  /** Returns a row for {@link #find}, at no key yet. */
  public abstract Row row();

  /** Returns an empty key, for keys of several columns and for bounds. */
  public final Key key() {
    return new Key(this);
  }

  /** Returns lookups of many keys at once. */
  public abstract Batch batch();

  // Lookups. If a key has several rows, they find the first.

  /** Moves a row to the one of an integer key. Returns false if the table has no such key. */
  public abstract boolean find(long key, Cells row);

  /** Moves a row to the one of a key of the type {@code utf8}. */
  public abstract boolean find(String key, Cells row);

  /** Moves a row to the one of a key of the type {@code utf8} or {@code bytes}. */
  public final boolean find(byte[] key, Cells row) {
    return find(key, 0, key.length, row);
  }

  public abstract boolean find(byte[] key, int offset, int length, Cells row);

  /** Moves a row to the one of a key of all columns. */
  public abstract boolean find(Key key, Cells row);

  /** Returns the row of an integer key, or null. */
  public final Row get(long key) {
    Row row = row();
    return find(key, row) ? whole(row) : null;
  }

  /** Returns the row of a key of the type {@code utf8}, or null. */
  public final Row get(String key) {
    return copy(spare(key));
  }

  public final Row get(byte[] key) {
    return get(key, 0, key.length);
  }

  /** Returns the row of a key of the type {@code utf8} or {@code bytes}, or null. */
  public final Row get(byte[] key, int offset, int length) {
    Row row = row();
    return find(key, offset, length, row) ? whole(row) : null;
  }

  /** Returns the row of a key of several columns, in the order of the key; or null. */
  public final Row get(Object... key) {
    return copy(spare(key));
  }

  /** Returns the row of a key, or null. */
  public final Row get(Key key) {
    Row row = row();
    return find(key, row) ? whole(row) : null;
  }

  /** Finds a row that the next lookup of the thread moves. */
  final Row spare(String key) {
    Row found = spare.get();
    return find(key, found) ? found : null;
  }

  final Row spare(Object... key) {
    Row found = spare.get();
    return find(found.scratch(this).clear().addAll(key), found) ? found : null;
  }

  private Row copy(Row found) {
    if (found == null) {
      return null;
    }
    Row row = row();
    row.moveTo(found);
    return whole(row);
  }

  /** Reads what other threads would otherwise read side by side. */
  private static Row whole(Row row) {
    row.readStarts();
    return row;
  }

  /** Returns all rows of a key, in the order of the input. */
  public abstract Rows getAll(long key);

  public abstract Rows getAll(String key);

  public abstract Rows getAll(byte[] key);

  public abstract Rows getAll(Key key);

  public final Rows getAll(Object... key) {
    return getAll(key().addAll(key));
  }

  /** Looks up many keys at once, and returns how many have a row; the batch has the rows. */
  public final int getAll(long[] keys, Batch batch) {
    return batch.find(keys, 0, keys.length);
  }

  public final int getAll(String[] keys, Batch batch) {
    return batch.find(keys, 0, keys.length);
  }

  /** Looks up keys of several columns: each is an array with the values of its columns. */
  public final int getAll(Object[][] keys, Batch batch) {
    return batch.find(keys, 0, keys.length);
  }

  // Views.

  /**
   * Returns rows as an interface whose getters read them: {@code long userId()}, {@code getUserId()} or
   * {@code user_id()} for the column {@code user_id}. A class for it is made once.
   */
  public final <T> TypedTable<T> view(Class<T> type) {
    return new TypedTable<>(this, Shape.view(schema().layout(), type));
  }

  /** Returns rows as copies in a record class (Java 16), whose components have the names of columns. */
  public final <T> TypedTable<T> as(Class<T> type) {
    return new TypedTable<>(this, Shape.copy(schema().layout(), type));
  }

  /**
   * Returns a read-only map. Its keys are Long, Integer, Short, Byte or Boolean for integers, String for texts, byte[]
   * for bytes, and List for keys of several columns. Its values are views of an interface, records, or Rows.
   */
  public final <K, V> Map<K, V> asMap(Class<K> key, Class<V> value) {
    return new TableMap<>(this, key, new TypedTable<>(this, Shape.of(schema().layout(), value)));
  }

  // For the classes of tables.

  /** Returns what new rows belong to. */
  protected abstract Source source();

  /** Returns all rows, if the table has walks. */
  protected Rows allRows() {
    throw new UnsupportedOperationException(name() + " has lookups by key and no walks; open the file for a walk");
  }

  /** Throws IllegalArgumentException if a row is one of another table. */
  protected abstract void requireOwn(Cells row);

  /** Returns a row at no key yet. */
  protected final Row newRow() {
    return new Row(source(), schema().layout());
  }

  /** Returns true if a row has the columns of this table. */
  protected final boolean hasColumns(Cells row) {
    return row.layout == schema().layout();
  }

  /** Moves a row to bytes of a source. */
  protected static void move(Cells row, Source source, long begin, long end) {
    row.belongTo(source);
    row.move(begin, end);
  }

  /** Returns the array with the bytes of a key, from its begin. */
  protected static byte[] bytes(Key key) {
    return key.bytes();
  }

  /** Returns the number of a key's bytes. */
  protected static int length(Key key) {
    return key.length();
  }

  /** Returns true if the types of a key's columns have its numbers; else no row has the key. */
  protected static boolean fits(Key key) {
    return key.fits();
  }

  /** Throws IllegalArgumentException if a key is one of another table, or has not all columns. */
  protected final void requireWhole(Key key) {
    if (key.table() != this) {
      throw new IllegalArgumentException("the key is one of another table");
    }
    key.requireAll();
  }

  /** Returns the exception for a key of another type than the table's. */
  protected final IllegalArgumentException wrongKey(String given) {
    return new IllegalArgumentException(given + " is no key of " + name() + ": its key is " + schema().key());
  }

  /** Throws IndexOutOfBoundsException if an array does not have these bytes. */
  protected static void requireWithin(byte[] key, int offset, int length) {
    if (offset < 0 || length < 0 || offset > key.length - length) {
      throw new IndexOutOfBoundsException(length + " bytes at " + offset + " of an array of " + key.length);
    }
  }

  /** Sets a key to values. Throws IllegalArgumentException if they are none of all its columns. */
  protected static Key fill(Key key, Object[] values) {
    key.clear().addAll(values).requireAll();
    return key;
  }
}
