package org.yunti.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Iterator;
import java.util.Objects;

import org.yunti.table.format.Source;
import org.yunti.table.format.TableFile;
import org.yunti.table.format.KeyHash;
import org.yunti.table.memory.PositionedBytes;
import org.yunti.table.memory.PositionedMemory;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Schema;

/**
 * A table in a file that {@code yunti table build} wrote, mapped into this process. Opening reads a few kilobytes, and
 * rows are read where they are: nothing is on the heap. Threads share one table.
 *
 * <pre>{@code
 *   try (SharedTable users = SharedTable.open(Paths.get("users.ytab"))) {
 *     Row user = users.get(4711);
 *     String name = user == null ? "nobody" : user.getUtf8("name");
 *   }
 * }</pre>
 *
 * <p>After {@link #close}, lookups and rows throw IllegalStateException. A damaged table gives a
 * {@link TableException}, at the open or when the damaged bytes are first used.
 */
public final class SharedTable extends Table implements Iterable<Row> {
  private final Path path;
  private final Options options;
  private final FileIdentity identity;
  private final TableFile file;
  private final Slots slots;
  private final Order order;
  private final Column[] keyColumns;
  private final Column keyColumn;
  private final boolean isInteger;
  private final boolean isBytes;
  private final boolean isEmpty;
  /** Start of the hashes of this table: {@link KeyHash}. */
  private final long start;

  private SharedTable(Path path, Options options) throws IOException {
    this.path = path;
    this.options = options;
    // Before the open: if the file is replaced in between, reopen() opens once too often, and misses nothing.
    identity = new FileIdentity(path);
    file = new TableFile(path, options.access());
    slots = new Slots(file);
    order = file.header.isSorted ? new Order(file, slots) : null;
    keyColumns = file.schema.key().toArray(new Column[0]);
    keyColumn = keyColumns.length == 1 ? keyColumns[0] : null;
    isInteger = keyColumn != null && keyColumn.type().isInteger();
    isBytes = keyColumn != null && !isInteger;
    isEmpty = file.header.keys == 0;
    start = KeyHash.start(file.header.seed);
    if (options.isVerified()) {
      try {
        verify();
      } catch (RuntimeException e) {
        close();
        throw e;
      }
    }
  }

  /** Opens a table. */
  public static SharedTable open(Path path) throws IOException {
    return open(path, Options.usual());
  }

  public static SharedTable open(Path path, Options options) throws IOException {
    return new SharedTable(path, options);
  }

  /**
   * Writes an object with all it refers to: records, enums, texts, lists, sets, maps, numbers, arrays of numbers,
   * Optional and times. {@link org.yunti.table.frozen.Frozen} reads it in place.
   *
   * @throws IllegalArgumentException if it has an object that cannot be frozen, with the path to it
   */
  public static void freeze(Object graph, Path path) throws IOException {
    org.yunti.table.frozen.Frozen.write(graph, path);
  }

  /**
   * Checks a file of another file system, without its rows: that it is a table, is as long as its header says, and that
   * header, schema and dictionaries fit together.
   *
   * @param name the file's name in messages
   * @throws TableException if it is no table, or damaged
   */
  public static void check(String name, long bytes, PositionedBytes file) throws IOException {
    TableFile.requireBytes(name, bytes);
    try {
      new TableFile(new PositionedMemory(name, bytes, file), name);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Returns a table of the file that now has this path's name, or this table if that is the same file. */
  @Override
  public SharedTable reopen() throws IOException {
    return identity.equals(new FileIdentity(path)) ? this : open(path, options);
  }

  /** Closes the table for all threads. A lookup that runs beside it ends, or throws IllegalStateException. */
  @Override
  public void close() {
    file.memory.close();
  }

  @Override
  public boolean isClosed() {
    return file.memory.isClosed();
  }

  @Override
  public long size() {
    return file.header.keys;
  }

  @Override
  public long rowCount() {
    return file.header.rows;
  }

  @Override
  public boolean hasSeveral() {
    return file.header.hasSeveral;
  }

  @Override
  public Schema schema() {
    return file.schema;
  }

  public Path path() {
    return path;
  }

  @Override
  public String name() {
    return file.path;
  }

  @Override
  public Row row() {
    return newRow();
  }

  @Override
  public Batch batch() {
    return new FileBatch(this);
  }

  @Override
  public boolean find(long key, Cells row) {
    requireInteger();
    requireOwn(row);
    try {
      return !isEmpty() && slots.find(KeyHash.hash(key, start), row) && isKey(row, key);
    } catch (InternalError e) {
      throw file.cut(e);
    }
  }

  @Override
  public boolean find(String key, Cells row) {
    requireBytes();
    requireOwn(row);
    Key bytes = row.scratch(this).clear().add(key);
    return find(bytes.bytes(), 0, bytes.length(), row);
  }

  @Override
  public boolean find(byte[] key, int offset, int length, Cells row) {
    requireBytes();
    requireOwn(row);
    requireWithin(key, offset, length);
    try {
      return !isEmpty() && slots.find(KeyHash.hash(key, offset, length, start), row)
          && isKey(row, key, offset, length);
    } catch (InternalError e) {
      throw file.cut(e);
    }
  }

  @Override
  public boolean find(Key key, Cells row) {
    requireOwn(row);
    requireWhole(key);
    try {
      return !isEmpty() && slots.find(key.hash(start), row) && key.isOf(row);
    } catch (InternalError e) {
      throw file.cut(e);
    }
  }

  @Override
  public Rows getAll(long key) {
    return new Rows.OfKey(this, get(key));
  }

  @Override
  public Rows getAll(String key) {
    return new Rows.OfKey(this, get(key));
  }

  @Override
  public Rows getAll(byte[] key) {
    return new Rows.OfKey(this, get(key));
  }

  @Override
  public Rows getAll(Key key) {
    return new Rows.OfKey(this, get(key));
  }

  // Walks.

  /** Returns all rows, in no order that means anything. */
  public Rows rows() {
    return new Rows.All(this);
  }

  @Override
  public Iterator<Row> iterator() {
    return rows().iterator();
  }

  /** Returns all rows in the order of keys. The table was built with an order. */
  public Rows sorted() {
    return new Rows.Sorted(this, requireOrder(), 0, size());
  }

  /** Returns the rows with keys from one, which is included, to another, which is not. */
  public Rows range(long from, long to) {
    return range(key().add(from), key().add(to));
  }

  public Rows range(String from, String to) {
    return range(key().add(from), key().add(to));
  }

  /**
   * Returns the rows with keys from one bound to another. Bounds may have the first columns of the key only; null is no
   * bound.
   */
  public Rows range(Key from, Key to) {
    Order of = requireOrder();
    Row row = row();
    try {
      long begin = from == null ? 0 : of.find(from, false, false, row);
      long end = to == null ? size() : of.find(to, false, false, row);
      return new Rows.Sorted(this, of, begin, end);
    } catch (InternalError e) {
      throw file.cut(e);
    }
  }

  /** Returns the rows whose keys begin with a text, in the order of keys. */
  public Rows prefix(String text) {
    return prefix(key().add(text));
  }

  /** Returns the rows whose keys begin with these columns; a text as the last one is the begin of texts. */
  public Rows prefix(Key prefix) {
    Order of = requireOrder();
    Row row = row();
    try {
      return new Rows.Sorted(this, of, of.find(prefix, true, false, row), of.find(prefix, true, true, row));
    } catch (InternalError e) {
      throw file.cut(e);
    }
  }

  private Order requireOrder() {
    if (order == null) {
      throw new IllegalStateException(path + " has no order of keys; build it with --sorted");
    }
    return order;
  }

  /**
   * Checks all of the file: sums, places, rows, and that each key is found.
   *
   * @throws TableException at the first fault
   */
  public void verify() {
    try {
      Verification.run(this, order);
    } catch (InternalError e) {
      throw file.cut(e);
    }
  }

  // For the classes beside.

  @Override
  protected Source source() {
    return file;
  }

  @Override
  protected Rows allRows() {
    return rows();
  }

  TableFile file() {
    return file;
  }

  long start() {
    return start;
  }

  Slots slots() {
    return slots;
  }

  boolean isEmpty() {
    if (isEmpty && file.memory.isClosed()) {
      file.memory.getByte(0);
    }
    return isEmpty;
  }

  boolean isKey(Cells row, long key) {
    return Values.integer(file.memory, keyColumn.type(), row.begin + keyColumn.at()) == key;
  }

  private boolean isKey(Cells row, byte[] key, int offset, int length) {
    long begin = row.start(keyColumn.at());
    return row.start(keyColumn.at() + 1) - begin == length && file.memory.equal(begin, key, offset, length);
  }

  @Override
  protected void requireOwn(Cells row) {
    if (row.source != file || row.layout != file.schema.layout()) {
      throw new IllegalArgumentException("the row is one of another table; take one of row()");
    }
  }

  void requireInteger() {
    if (!isInteger) {
      throw wrongKey("a number");
    }
  }

  void requireBytes() {
    if (!isBytes) {
      throw wrongKey("a text or bytes");
    }
  }

  @Override
  public String toString() {
    return path + " " + file.schema + ", " + size() + " keys";
  }

  /** Numbers that distinguish a file from the one that replaced it. */
  private static final class FileIdentity {
    private final Object number;
    private final long bytes;
    private final long changed;

    FileIdentity(Path path) throws IOException {
      BasicFileAttributes of = Files.readAttributes(path, BasicFileAttributes.class);
      number = of.fileKey();
      bytes = of.size();
      changed = of.lastModifiedTime().toMillis();
    }

    @Override
    public boolean equals(Object other) {
      FileIdentity of = (FileIdentity) other;
      return Objects.equals(number, of.number) && bytes == of.bytes && changed == of.changed;
    }

    @Override
    public int hashCode() {
      return Objects.hash(number, bytes, changed);
    }
  }
}
