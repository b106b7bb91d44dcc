package org.yunti.table;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * A table whose rows are objects of a class: views of an interface, which read the table's bytes, or records,
 * which are copies. Threads share it, as they share the table.
 *
 * @param <T> an interface or a record class
 */
public final class TypedTable<T> implements Iterable<T> {
  private final Table table;
  private final Shape<T> shape;

  TypedTable(Table table, Shape<T> shape) {
    this.table = table;
    this.shape = shape;
  }

  public Table table() {
    return table;
  }

  /** Returns the object of an integer key, or null. */
  public T get(long key) {
    Cells cells = shape.cells(table.source());
    return table.find(key, cells) ? whole(cells) : null;
  }

  /** Returns the object of a key of the type {@code utf8}, or null. */
  public T get(String key) {
    return of(table.spare(key));
  }

  public T get(byte[] key) {
    return get(key, 0, key.length);
  }

  /** Returns the object of a key of the type {@code utf8} or {@code bytes}, or null. */
  public T get(byte[] key, int offset, int length) {
    Cells cells = shape.cells(table.source());
    return table.find(key, offset, length, cells) ? whole(cells) : null;
  }

  /** Returns the object of a key of several columns, or null. */
  public T get(Object... key) {
    return of(table.spare(key));
  }

  public T get(Key key) {
    Cells cells = shape.cells(table.source());
    return table.find(key, cells) ? whole(cells) : null;
  }

  /** Returns the object for the row of another one, or null for null. */
  public T of(Row row) {
    if (row == null) {
      return null;
    }
    table.requireOwn(row);
    Cells cells = shape.cells(table.source());
    cells.moveTo(row);
    return whole(cells);
  }

  private T whole(Cells cells) {
    cells.readStarts();
    return shape.value(cells);
  }

  /**
   * Returns a view at no row yet, which {@link #find} moves. Not for records.
   *
   * @throws UnsupportedOperationException for records
   */
  public T flyweight() {
    Cells cells = shape.cells(table.source());
    T view = shape.value(cells);
    if (shape.cellsOf(view) == null) {
      throw new UnsupportedOperationException("a record does not move; take an interface");
    }
    return view;
  }

  /** Moves a view to the row of an integer key, without allocation. Returns false if the table has no such key. */
  public boolean find(long key, T flyweight) {
    return table.find(key, shape.cellsOf(flyweight));
  }

  public boolean find(String key, T flyweight) {
    return table.find(key, shape.cellsOf(flyweight));
  }

  public boolean find(byte[] key, int offset, int length, T flyweight) {
    return table.find(key, offset, length, shape.cellsOf(flyweight));
  }

  public boolean find(Key key, T flyweight) {
    return table.find(key, shape.cellsOf(flyweight));
  }

  /** Returns the objects of rows: of a key, a range, or all. */
  public List<T> list(Rows rows) {
    List<T> list = new ArrayList<>();
    for (Cells cells = shape.cells(table.source()); rows.next(cells); cells = shape.cells(table.source())) {
      list.add(whole(cells));
    }
    return list;
  }

  /** Returns the objects of all rows of a key. */
  public List<T> getAll(long key) {
    return list(table.getAll(key));
  }

  public List<T> getAll(String key) {
    return list(table.getAll(key));
  }

  public List<T> getAll(Object... key) {
    return list(table.getAll(key));
  }

  /** Iterates over all rows, an object for each. */
  @Override
  public Iterator<T> iterator() {
    Iterator<Row> rows = table.allRows().iterator();
    return new Iterator<T>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public T next() {
        return of(rows.next());
      }
    };
  }
}
