package org.yunti.table.frozen;

import java.io.IOException;
import java.nio.file.Path;

import org.yunti.table.ByteRange;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;

/**
 * A graph of objects in a file, read where it is: opening it reads no object, and a getter reads one value.
 *
 * <pre>{@code
 *   Frozen.write(new Shop("north", orders), path);                        // records, lists, maps, ..
 *   try (Frozen<ShopView> shop = Frozen.open(path, ShopView.class)) {     // an interface that Shop implements
 *     shop.get().orders().get(3).customer().name();
 *   }
 * }</pre>
 *
 * <p>A frozen record is read as an interface that its class implements, which reads the file at each call; or as the
 * record class itself, which copies it with all it refers to. Lists, sets and maps are read in place, too. An object
 * that is in the graph twice is in the file once: two views of it are equal, and copies have it once.
 *
 * @param <T> the class that the root is read as
 */
public final class Frozen<T> implements AutoCloseable {
  private static final String KEY = "objects";

  private final SharedTable table;
  private final Class<T> type;
  private final Reader reader;

  private Frozen(SharedTable table, Class<T> type, Class<?>[] others) {
    this.table = table;
    this.type = type;
    int content = table.schema().layout().has("content") ? table.column("content") : -1;
    Row classes = content < 0 ? null : table.get("classes");
    Row objects = content < 0 ? null : table.get(KEY);
    if (classes == null || objects == null) {
      throw new IllegalArgumentException(table.path() + " has no frozen objects; write them by Frozen.write");
    }
    ByteRange bytes = objects.getRange(content);
    reader = new Reader(table.path().toString(), classes.getBytes(content), bytes, type, others);
  }

  /**
   * Writes an object with all it refers to; an old file is replaced at once.
   *
   * @throws IllegalArgumentException if it has an object that cannot be frozen, with the path to it
   */
  public static void write(Object graph, Path path) throws IOException {
    PartFile.write(path, Freezer.freeze(graph));
  }

  /**
   * Opens a graph.
   *
   * @param root the class that the root is read as
   * @param others the classes of objects whose class no getter or component says: values of a Map as the root
   */
  public static <T> Frozen<T> open(Path path, Class<T> root, Class<?>... others) throws IOException {
    SharedTable table = SharedTable.open(path);
    try {
      return new Frozen<>(table, root, others);
    } catch (RuntimeException e) {
      table.close();
      throw e;
    }
  }

  /** Returns the root. */
  public T get() {
    return type.cast(reader.read(reader.root(), type, null));
  }

  /** Closes the file. Copies stay; views then throw IllegalStateException. */
  @Override
  public void close() {
    table.close();
  }
}
