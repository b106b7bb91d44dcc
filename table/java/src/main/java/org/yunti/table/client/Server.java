package org.yunti.table.client;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.yunti.table.TableException;
import org.yunti.table.client.wire.Address;
import org.yunti.table.client.wire.Connection;
import org.yunti.table.client.wire.ErrorResponse;
import org.yunti.table.client.wire.OpenedTable;

/** One server: its connections, what it has, and whether it answers. */
final class Server implements Closeable {
  final Address address;
  private final Cluster cluster;
  private final ClientOptions options;
  private final Semaphore permits;
  private final ConcurrentLinkedDeque<Link> idle = new ConcurrentLinkedDeque<>();
  private final Set<Link> all = ConcurrentHashMap.newKeySet();
  /** The table at the first connection; null before. */
  private volatile OpenedTable table;
  /** Why it does not answer, or null. */
  private volatile String failure;

  Server(Address address, Cluster cluster, ClientOptions options) {
    this.address = address;
    this.cluster = cluster;
    this.options = options;
    permits = new Semaphore(options.connections(), true);
  }

  /** A connection with the table's handle. */
  static final class Link {
    final Connection connection;
    final int handle;
    /** True: a lookup before this one used it, and the server may have ended since. */
    boolean isReused;

    Link(Connection connection, int handle) {
      this.connection = connection;
      this.handle = handle;
    }
  }

  /** Returns what the server has, or null if it has never answered. */
  OpenedTable table() {
    return table;
  }

  /** Returns true if it answers for a shard, from 0, where each server has one of a number of shards. */
  boolean has(int shard, int shards) {
    OpenedTable of = table;
    return of != null && (of.shards == 1 || of.shards == shards && of.shard == shard + 1);
  }

  /** Returns true if it has the keys of a request, as its shard or because it has all. */
  boolean canAnswer(KeyRequest request) {
    OpenedTable of = table;
    return of != null && of.isWhole || has(request.shard, request.shards);
  }

  String failure() {
    return failure;
  }

  void fail(String why) {
    failure = why;
  }

  /** Takes a connection, for one lookup. */
  Link take() throws IOException {
    acquire();
    try {
      Link link = idle.pollFirst();
      if (link != null) {
        link.isReused = true;
        return link;
      }
      return connect();
    } catch (IOException | RuntimeException e) {
      permits.release();
      throw e;
    }
  }

  private void acquire() {
    try {
      if (!permits.tryAcquire(options.requestTimeout().toNanos(), TimeUnit.NANOSECONDS)) {
        throw new TableException(cluster.name() + ": all " + options.connections() + " connections to " + address
            + " were busy for " + seconds(options.requestTimeout()) + "; set more ClientOptions.connections");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw interrupted(e);
    }
  }

  TableException interrupted(Exception e) {
    return new TableException(cluster.name() + " at " + address + ": the thread was interrupted; look the keys up "
        + "again", e);
  }

  /** Gives a connection back; one with requests under way is closed. */
  void give(Link link) {
    if (link.connection.underWay() > 0 || cluster.isClosed()) {
      close(link);
    } else {
      idle.addFirst(link);
      if (cluster.isClosed()) {
        closeIdle();
      }
    }
    permits.release();
  }

  /** Closes a connection that failed. */
  void discard(Link link) {
    close(link);
    permits.release();
  }

  private void close(Link link) {
    all.remove(link);
    link.connection.close();
  }

  /** Closes the connections that no lookup has: one of them failed, as all do when a server has started again. */
  void closeIdle() {
    for (Link link; (link = idle.pollFirst()) != null; ) {
      close(link);
    }
  }

  /** Connects, and keeps the connection for the next lookup. */
  void open() throws IOException {
    idle.addFirst(connect());
    failure = null;
    if (cluster.isClosed()) {
      closeIdle();
    }
  }

  /** Returns the version of the table that the server has now. */
  long versionNow() throws IOException {
    Connection connection = newConnection();
    try {
      return openOn(connection).version;
    } finally {
      connection.close();
    }
  }

  /** Returns the counters that the server has now, by a connection of its own; an error if it is away or refuses. */
  ServerCounters counters() {
    try {
      Connection connection = newConnection();
      try {
        connection.hello(options.token());
        return ServerCounters.of(address.toString(), connection.counters());
      } catch (ErrorResponse e) {
        return ServerCounters.failed(address.toString(), error(e).getMessage());
      } finally {
        connection.close();
      }
    } catch (IOException e) {
      return ServerCounters.failed(address.toString(), describe(e));
    }
  }

  private Link connect() throws IOException {
    cluster.requireOpen();
    Connection connection = newConnection();
    try {
      OpenedTable opened = openOn(connection);
      cluster.accept(this, opened);
      table = table == null ? opened : table;
      Link link = new Link(connection, opened.handle);
      all.add(link);
      return link;
    } catch (IOException | RuntimeException e) {
      connection.close();
      throw e;
    }
  }

  private Connection newConnection() throws IOException {
    try {
      return new Connection(address, options.tlsOrNull(), options.connectTimeout(), options.requestTimeout());
    } catch (SocketTimeoutException e) {
      throw new IOException("no connection within " + seconds(options.connectTimeout()), e);
    }
  }

  private OpenedTable openOn(Connection connection) throws IOException {
    try {
      connection.hello(options.token());
      return connection.open(cluster.tableName(), options.columns());
    } catch (ErrorResponse e) {
      throw error(e);
    }
  }

  /** Returns the exception for the user, or throws an IOException if another server may do what this one does not. */
  TableException error(ErrorResponse e) throws IOException {
    if (e.code() == ErrorResponse.UNAVAILABLE) {
      throw new IOException(e.getMessage(), e);
    }
    return new TableException(cluster.name() + " at " + address + ": " + e.getMessage() + "; " + e.advice(), e);
  }

  /** Returns what a failure means, in a few words. */
  String describe(IOException e) {
    if (e instanceof SocketTimeoutException) {
      return "no response within " + seconds(options.requestTimeout());
    }
    if (e instanceof EOFException) {
      return "it closed the connection";
    }
    if (e instanceof ClosedChannelException) {
      return "the connection was closed";
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  static boolean isInterrupt(IOException e) {
    return e instanceof ClosedByInterruptException || Thread.currentThread().isInterrupted();
  }

  private static String seconds(java.time.Duration time) {
    return time.toMillis() / 1000.0 + " s";
  }

  /** Closes all connections; lookups that use one end. */
  @Override
  public void close() {
    for (Link link : all) {
      link.connection.closeSocket();
    }
    closeIdle();
  }
}
