package org.yunti.table.client;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.yunti.table.TableException;
import org.yunti.table.client.wire.Address;
import org.yunti.table.client.wire.OpenedTable;

/** The servers of a table: which of them has a shard, and which of them answer. */
final class Cluster implements Closeable {
  private static final long PAUSE_MS_MIN = 1000;
  private static final long PAUSE_MS_MAX = 30_000;

  private final String tableName;
  private final List<Server> servers = new ArrayList<>();
  private final AtomicInteger turn = new AtomicInteger();
  private final AtomicBoolean isRepairing = new AtomicBoolean();
  private final Object closing = new Object();
  private volatile boolean isClosed;
  /** The first table that a server opened: the others have its columns. */
  private volatile OpenedTable first;
  private boolean hasSeveral;
  private volatile int shards = 1;

  Cluster(String tableName, ClientOptions options, Collection<String> addresses) {
    if (tableName == null || tableName.isEmpty()) {
      throw new IllegalArgumentException("the name of the table is empty; name one that the servers have");
    }
    this.tableName = tableName;
    Set<String> seen = new HashSet<>();
    for (String address : addresses) {
      if (seen.add(address)) {
        servers.add(new Server(Address.of(address), this, options));
      }
    }
    if (servers.isEmpty()) {
      throw new IllegalArgumentException("the table " + tableName + " has no servers; name the address of one");
    }
  }

  /** Connects to all servers, side by side. Each shard needs one that answers. */
  void connect() {
    for (RuntimeException error : ofEach(Cluster::tryOpen)) {
      if (error != null) {
        throw error;
      }
    }
    requireAllShards();
    for (Server server : servers) {
      if (server.failure() != null) {
        repair();
      }
    }
  }

  /** Returns what a function returns for each server. It is called for all of them at the same time. */
  private <T> List<T> ofEach(Function<Server, T> function) {
    List<FutureTask<T>> tasks = new ArrayList<>();
    for (Server server : servers) {
      FutureTask<T> task = new FutureTask<>(() -> function.apply(server));
      tasks.add(task);
      if (tasks.size() < servers.size()) {
        Thread thread = new Thread(task, "yunti-table-connect");
        thread.setDaemon(true);
        thread.start();
      } else {
        task.run();
      }
    }
    List<T> results = new ArrayList<>();
    try {
      for (FutureTask<T> task : tasks) {
        results.add(task.get());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TableException(name() + ": the thread was interrupted while it connected; connect again", e);
    } catch (ExecutionException e) {
      // A task throws nothing else: its function has no checked exceptions.
      throw new IllegalStateException(name() + ": " + e.getCause().getMessage(), e.getCause());
    }
    return results;
  }

  /** Returns the counters of each server, or why there are none. */
  List<ServerCounters> counters() {
    requireOpen();
    return ofEach(Server::counters);
  }

  /** Opens a server. Returns the error that the user has to know, or null; a server without a connection is none. */
  private static RuntimeException tryOpen(Server server) {
    try {
      server.open();
      return null;
    } catch (IOException e) {
      server.fail(server.describe(e));
      return null;
    } catch (RuntimeException e) {
      server.fail(e.getMessage());
      return e;
    }
  }

  private void requireAllShards() {
    if (first == null) {
      throw exhausted(0, servers, null);
    }
    boolean[] has = new boolean[shards];
    int left = shards;
    for (Server server : servers) {
      OpenedTable table = server.table();
      if (table != null && table.isWhole) {
        return;
      }
      if (table != null && !has[table.shard - 1]) {
        has[table.shard - 1] = true;
        left--;
      }
    }
    for (int shard = 0; left > 0; shard++) {
      if (!has[shard]) {
        throw new TableException(name() + ": no server that answers has the shard " + (shard + 1) + " of " + shards
            + failures(servers) + "; name a server of each shard");
      }
    }
  }

  private static String failures(Collection<Server> servers) {
    StringBuilder out = new StringBuilder();
    for (Server server : servers) {
      if (server.failure() != null) {
        out.append(out.length() == 0 ? " (" : ", ").append(server.address).append(": ").append(server.failure());
      }
    }
    return out.append(out.length() == 0 ? "" : ")").toString();
  }

  /** Checks what a server has opened against what the others have. */
  synchronized void accept(Server server, OpenedTable table) {
    if (first == null) {
      table.schema();
      first = table;
    } else if (!table.hasColumnsOf(first)) {
      throw new TableException(name() + " at " + server.address + " has other columns than at the other servers, or "
          + "than before: " + table.schema() + "; give all servers the same table, and connect again");
    }
    if (table.shards > 1 && shards > 1 && table.shards != shards) {
      throw new TableException(name() + " at " + server.address + " has " + table.shards + " shards, and " + shards
          + " at another server; divide the table equally everywhere");
    }
    shards = Math.max(shards, table.shards);
    // The file of a shard says nothing of the keys of others.
    hasSeveral |= table.hasSeveral;
  }

  String tableName() {
    return tableName;
  }

  /** Returns the table for messages. */
  String name() {
    return "the table " + tableName;
  }

  List<Server> servers() {
    return servers;
  }

  OpenedTable first() {
    return first;
  }

  synchronized boolean hasSeveral() {
    return hasSeveral;
  }

  int shards() {
    return shards;
  }

  /**
   * Returns a server for a request: one of its shard that answers, else one of another shard that has the whole file,
   * else one that did not answer when it was last used, or never has.
   *
   * @param tried servers that failed in this lookup
   * @return null if there is none
   */
  Server choose(KeyRequest request, Set<Server> tried) {
    int begin = turn.getAndIncrement();
    Server standIn = null;
    Server failed = null;
    for (int i = 0; i < servers.size(); i++) {
      Server server = servers.get(Math.floorMod(begin + i, servers.size()));
      if (tried.contains(server)) {
        continue;
      }
      boolean has = server.has(request.shard, request.shards);
      if (has && server.failure() == null) {
        return server;
      }
      boolean isLast = !has && server.canAnswer(request);
      standIn = isLast && server.failure() == null ? server : standIn;
      failed = has || (isLast || server.table() == null) && failed == null ? server : failed;
    }
    return standIn == null ? failed : standIn;
  }

  /** Returns the exception for a shard whose servers have all failed. */
  TableException exhausted(int shard, Collection<Server> tried, IOException last) {
    String which = shards == 1 ? "" : "the shard " + (shard + 1) + " of ";
    return new TableException("no server answers for " + which + name() + failures(tried)
        + "; start one, or name another", last);
  }

  /** Notes that a server does not answer, and tries from time to time whether it does again. */
  void fail(Server server, IOException why) {
    server.fail(server.describe(why));
    server.closeIdle();
    repair();
  }

  private void repair() {
    if (!isClosed && isRepairing.compareAndSet(false, true)) {
      Thread thread = new Thread(this::runRepair, "yunti-table-repair");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void runRepair() {
    boolean isWhole = false;
    for (long pause = PAUSE_MS_MIN; !isWhole && waitOpen(pause); pause = Math.min(PAUSE_MS_MAX, 2 * pause)) {
      isWhole = true;
      for (Server server : servers) {
        if (server.failure() != null) {
          tryOpen(server);
          isWhole &= server.failure() == null;
        }
      }
    }
    isRepairing.set(false);
    if (isWhole && servers.stream().anyMatch(server -> server.failure() != null)) {
      // One failed behind this thread's back.
      repair();
    }
  }

  /** Waits, and returns false if the client is closed. */
  private boolean waitOpen(long ms) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    synchronized (closing) {
      try {
        for (long left = ms; left > 0 && !isClosed; left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())) {
          closing.wait(left);
        }
      } catch (InterruptedException e) {
        return false;
      }
    }
    return !isClosed;
  }

  boolean isClosed() {
    return isClosed;
  }

  void requireOpen() {
    if (isClosed) {
      throw new IllegalStateException("the client of " + name() + " is closed");
    }
  }

  @Override
  public void close() {
    synchronized (closing) {
      isClosed = true;
      closing.notifyAll();
    }
    for (Server server : servers) {
      server.close();
    }
  }
}
