package org.yunti.table.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.yunti.table.TableException;
import org.yunti.table.memory.Access;
import org.yunti.table.memory.Memory;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Schema;
import org.yunti.table.schema.SchemaReader;
import org.yunti.table.schema.Type;

/** A mapped table: its header, schema, checked blocks and dictionaries. */
public final class TableFile extends Source {
  public final String path;
  public final Header header;
  public final Blocks blocks;
  public final Schema schema;
  private final Dictionary[] dictionaries;

  /** Opens a table: reads its header and schema, and no row. */
  public TableFile(Path path, Access access) throws IOException {
    this(map(path, access), path.toString());
  }

  /** Opens the table in a memory, which has at least one byte. {@code path}: its name in messages. */
  public TableFile(Memory memory, String path) {
    super(memory);
    this.path = path;
    try {
      header = new Header(memory, this.path);
      blocks = new Blocks(memory, this.path, header.sums, header.pilots, header.groups, header.rowsPlace);
      schema = readSchema();
      requireRowBytes();
      dictionaries = readDictionaries();
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  private static Memory map(Path path, Access access) throws IOException {
    requireBytes(path.toString(), Files.size(path));
    return access.map(path);
  }

  /** Refuses an empty file, which cannot be mapped. */
  public static void requireBytes(String path, long bytes) {
    if (bytes == 0) {
      throw new TableException(path + " is empty, and no shared table; build one by: yunti table build");
    }
  }

  private Schema readSchema() {
    Place place = header.schema;
    if (place.bytes < 4 || place.bytes > Integer.MAX_VALUE - 8) {
      throw damaged("its schema has " + place.bytes + " bytes");
    }
    blocks.check(place.begin, place.end());
    byte[] bytes = new byte[(int) place.bytes];
    memory.copy(place.begin, bytes, 0, bytes.length);
    return SchemaReader.read(bytes, path);
  }

  private void requireRowBytes() {
    int least = schema.layout().fixedBytes() + schema.layout().variables();
    boolean isExact = schema.layout().variables() == 0;
    if (!header.isGrouped() && (isExact ? header.rowBytes != least : header.rowBytes < least)) {
      throw damaged("its rows of " + header.rowBytes + " bytes do not fit its columns");
    }
  }

  private Dictionary[] readDictionaries() {
    int count = 0;
    for (Column column : schema.columns()) {
      count += column.type() == Type.DICT ? 1 : 0;
    }
    Dictionary[] all = new Dictionary[count];
    long at = header.dictionaries.begin;
    for (int i = 0; i < count; i++) {
      all[i] = new Dictionary(this, at);
      at = all[i].end();
    }
    return all;
  }

  @Override
  public Dictionary dictionary(Column column) {
    return dictionaries[column.dictionary()];
  }

  @Override
  public TableException damaged(String what) {
    return new TableException(path + ": the table is damaged: " + what + "; build it again");
  }

  /** Turns the JVM's error for a page that is gone into an exception; another error is thrown again. */
  public TableException cut(InternalError e) {
    if (e.getMessage() == null || !e.getMessage().contains("fault")) {
      throw e;
    }
    return new TableException(path + ": the table was cut while it was open; build it again, beside its place, and "
        + "rename it", e);
  }
}
