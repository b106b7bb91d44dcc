package org.yunti.table.format;

import org.yunti.table.TableException;
import org.yunti.table.memory.Memory;
import org.yunti.table.schema.Column;

/** Bytes that have rows: a mapped file, or a response of a server. */
public abstract class Source {
  public final Memory memory;

  protected Source(Memory memory) {
    this.memory = memory;
  }

  /** Returns the texts of a {@code dict} column. */
  public abstract Dictionary dictionary(Column column);

  /** Returns the exception for bytes that are wrong. */
  public abstract TableException damaged(String what);
}
