package org.yunti.table.client.wire;

import java.net.ProtocolException;
import java.util.Arrays;

import org.yunti.table.schema.Schema;

/**
 * A table as a server has opened it for one connection.
 *
 * <pre>
 *   handle 4 | version 8 | keys 8 | rows 8 | shard 4 | shards 4 | flags 1 | columns of the key | columns of rows
 * </pre>
 */
public final class OpenedTable {
  /** Shards are servers; more than these are an error. */
  private static final int SHARDS_MAX = 1 << 16;

  public final int handle;
  public final long version;
  public final long keys;
  public final long rows;
  /** From 1. */
  public final int shard;
  public final int shards;
  public final boolean hasSeveral;
  /** True: the server's file has the keys of all shards. */
  public final boolean isWhole;
  private final Response response;
  private final int columns;

  OpenedTable(Response response) throws ProtocolException {
    this.response = response;
    handle = response.readInt();
    version = response.readLong();
    keys = response.readLong();
    rows = response.readLong();
    shard = response.readInt();
    shards = response.readInt();
    int flags = response.readByte();
    hasSeveral = (flags & 1) != 0;
    isWhole = (flags & 2) != 0 || shards == 1;
    columns = response.at();
    if (shards < 1 || shards > SHARDS_MAX || shard < 1 || shard > shards) {
      throw new ProtocolException("it reports the shard " + shard + " of " + shards);
    }
    if (keys < 0 || rows < 0) {
      throw new ProtocolException("it reports " + keys + " keys and " + rows + " rows");
    }
  }

  /** Reads the columns. Each call makes other objects of them. */
  public Schema schema() {
    return org.yunti.table.schema.SchemaReader.readOpened(response.bytes(), columns, response::damaged);
  }

  /** Returns true if another server has the same columns. */
  public boolean hasColumnsOf(OpenedTable other) {
    byte[] own = Arrays.copyOfRange(response.bytes(), columns, response.bytes().length);
    byte[] others = Arrays.copyOfRange(other.response.bytes(), other.columns, other.response.bytes().length);
    return Arrays.equals(own, others);
  }
}
