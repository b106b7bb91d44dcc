package org.yunti.table.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.yunti.table.Batch;
import org.yunti.table.Cells;
import org.yunti.table.Key;
import org.yunti.table.Row;
import org.yunti.table.Rows;
import org.yunti.table.Table;
import org.yunti.table.TableException;
import org.yunti.table.client.wire.OpenedTable;
import org.yunti.table.client.wire.Response;
import org.yunti.table.format.Dictionary;
import org.yunti.table.format.Source;
import org.yunti.table.memory.ArrayMemory;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Schema;
import org.yunti.table.schema.Type;

/**
 * A table at servers ({@code yunti table serve}): keys go to a server of their shard, and from a server that fails to
 * another one of the shard. Threads share one client. Rows are copies, which outlive it.
 *
 * <pre>{@code
 *   try (TableClient users = TableClient.connect("users", "unix:/run/users", "10.0.0.7:7070")) {
 *     Row user = users.get(4711);
 *     String name = user == null ? "nobody" : user.getUtf8("name");
 *   }
 * }</pre>
 *
 * <p>A lookup that fails is a {@link TableException}; it may be repeated. After {@link #close}, lookups throw
 * IllegalStateException. A connection stays with the table's version that it began with; {@link #reopen} gives a client
 * of the version that has taken its place.
 */
public final class TableClient extends Table {
  private final ClientOptions options;
  private final List<String> addresses;
  private final Cluster cluster;
  private final Schema schema;
  private final Source source;
  private final boolean hasSeveral;
  private final int rowBytesMin;
  /** The key's type if it has one column, else null. */
  private final Type keyType;

  private TableClient(String table, ClientOptions options, List<String> addresses) {
    this.options = options;
    this.addresses = addresses;
    cluster = new Cluster(table, options, addresses);
    try {
      cluster.connect();
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
    OpenedTable opened = cluster.first();
    schema = opened.schema();
    hasSeveral = cluster.hasSeveral();
    source = new Nothing(cluster.name());
    rowBytesMin = schema.layout().fixedBytes() + schema.layout().variables();
    keyType = schema.key().size() == 1 ? schema.key().get(0).type() : null;
  }

  /**
   * Connects to all servers of a table.
   *
   * @param servers addresses: {@code unix:PATH} (Java 16), {@code HOST:PORT} or {@code [IPV6]:PORT}
   * @throws TableException if a shard has no server that answers, or a server has no such table
   */
  public static TableClient connect(String table, String... servers) {
    return connect(table, ClientOptions.usual(), servers);
  }

  public static TableClient connect(String table, ClientOptions options, String... servers) {
    return new TableClient(table, options, new ArrayList<>(Arrays.asList(servers)));
  }

  /**
   * Asks all servers for the version of their table. Returns a new client if one has another than when this client
   * connected, else this client.
   */
  @Override
  public TableClient reopen() {
    cluster.requireOpen();
    for (Server server : cluster.servers()) {
      try {
        if (server.table() != null && server.versionNow() != server.table().version) {
          return new TableClient(cluster.tableName(), options, addresses);
        }
      } catch (IOException e) {
        cluster.fail(server, e);
      }
    }
    return this;
  }

  /**
   * Returns the counters of each server as they are now, in the order of the addresses. It requests all at
   * the same time, each by a connection of its own; one that is away has an error in their place.
   */
  public List<ServerCounters> serverCounters() {
    return cluster.counters();
  }

  /** Closes all connections. A lookup that runs beside it throws IllegalStateException. */
  @Override
  public void close() {
    cluster.close();
  }

  @Override
  public boolean isClosed() {
    return cluster.isClosed();
  }

  /** Returns the keys of all shards, as the servers reported them when they were connected. */
  @Override
  public long size() {
    return sum(false);
  }

  @Override
  public long rowCount() {
    return sum(true);
  }

  /** Returns the sum of the shards, or what a server with all of them has. */
  private long sum(boolean isRows) {
    long sum = 0;
    Set<Integer> shards = new HashSet<>();
    for (Server server : cluster.servers()) {
      OpenedTable table = server.table();
      if (table != null && table.isWhole) {
        return isRows ? table.rows : table.keys;
      }
      if (table != null && shards.add(table.shard)) {
        sum += isRows ? table.rows : table.keys;
      }
    }
    return sum;
  }

  @Override
  public boolean hasSeveral() {
    return hasSeveral;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public String name() {
    return cluster.name();
  }

  @Override
  public Row row() {
    return newRow();
  }

  @Override
  public Batch batch() {
    return new RemoteBatch(this);
  }

  @Override
  public boolean find(long key, Cells row) {
    requireOwn(row);
    return move(lookUp(key, false), row);
  }

  @Override
  public boolean find(String key, Cells row) {
    requireOwn(row);
    return move(lookUp(key, false), row);
  }

  @Override
  public boolean find(byte[] key, int offset, int length, Cells row) {
    requireOwn(row);
    return move(lookUp(key, offset, length, false), row);
  }

  @Override
  public boolean find(Key key, Cells row) {
    requireOwn(row);
    return move(lookUp(key, false), row);
  }

  @Override
  public Rows getAll(long key) {
    return new RemoteRows(this, lookUp(key, true));
  }

  @Override
  public Rows getAll(String key) {
    return new RemoteRows(this, lookUp(key, true));
  }

  @Override
  public Rows getAll(byte[] key) {
    return new RemoteRows(this, lookUp(key, 0, key.length, true));
  }

  @Override
  public Rows getAll(Key key) {
    return new RemoteRows(this, lookUp(key, true));
  }

  private Found lookUp(long number, boolean isAll) {
    requireInteger();
    if (!fits(number)) {
      return found(1);
    }
    byte[] key = new byte[8];
    writeKey(key, number);
    return run(key, 0, key.length, isAll);
  }

  private Found lookUp(String text, boolean isAll) {
    requireBytes();
    Key key = key().add(text);
    return run(bytes(key), 0, length(key), isAll);
  }

  private Found lookUp(byte[] key, int offset, int length, boolean isAll) {
    requireBytes();
    requireWithin(key, offset, length);
    return run(key, offset, length, isAll);
  }

  private Found lookUp(Key key, boolean isAll) {
    requireWhole(key);
    cluster.requireOpen();
    return fits(key) ? run(bytes(key), 0, length(key), isAll) : found(1);
  }

  private Found run(byte[] key, int offset, int length, boolean isAll) {
    KeyRequest.Builder requests = new KeyRequest.Builder(cluster.shards(), isAll);
    requests.add(0, key, offset, length);
    return run(requests, 1);
  }

  // For batches.

  KeyRequest.Builder requests() {
    return new KeyRequest.Builder(cluster.shards(), false);
  }

  Found found(int keys) {
    return new Found(keys, rowBytesMin);
  }

  Found run(KeyRequest.Builder requests, int keys) {
    Found found = found(keys);
    new Lookup(cluster, found).run(requests.requests());
    return found;
  }

  static Key filled(Key key, Object[] values) {
    return fill(key, values);
  }

  static boolean canBe(Key key) {
    return fits(key);
  }

  /** Returns the array and the number of bytes of a key. */
  static byte[] keyBytes(Key key) {
    return bytes(key);
  }

  static int keyLength(Key key) {
    return length(key);
  }

  /** Writes the 8 bytes of an integer key. */
  static void writeKey(byte[] key, long number) {
    for (int i = 0; i < key.length; i++) {
      key[i] = (byte) (number >>> 8 * i);
    }
  }

  /** Returns true if the key's type has a number. A table has no other keys, and no server needs to say so. */
  boolean fits(long number) {
    return keyType.holds(number);
  }

  void requireInteger() {
    cluster.requireOpen();
    if (keyType == null || !keyType.isInteger()) {
      throw wrongKey("a number");
    }
  }

  void requireBytes() {
    cluster.requireOpen();
    if (keyType == null || keyType.isInteger()) {
      throw wrongKey("a text or bytes");
    }
  }

  private static boolean move(Found found, Cells row) {
    if (found.responses[0] == null) {
      return false;
    }
    move(row, found.responses[0], found.begins[0], found.ends[0]);
    return true;
  }

  void moveTo(Response response, int begin, int end, Cells row) {
    requireOwn(row);
    move(row, response, begin, end);
  }

  @Override
  protected void requireOwn(Cells row) {
    if (!hasColumns(row)) {
      throw new IllegalArgumentException("the row is one of another table; take one of row()");
    }
  }

  @Override
  protected Source source() {
    return source;
  }

  @Override
  public String toString() {
    return name() + " at " + addresses + " " + schema;
  }

  /** Source of rows before a lookup moves them. */
  private static final class Nothing extends Source {
    private final String name;

    Nothing(String name) {
      super(new ArrayMemory("row of " + name, new byte[0]));
      this.name = name;
    }

    @Override
    public Dictionary dictionary(Column column) {
      throw damaged("a dict is no column of a response");
    }

    @Override
    public TableException damaged(String what) {
      return new TableException(name + ": the row is at no key; move it by find");
    }
  }
}
