package org.yunti.table.client;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.yunti.table.TableException;
import org.yunti.table.client.wire.Connection;
import org.yunti.table.client.wire.ErrorResponse;
import org.yunti.table.client.wire.Response;

/**
 * One lookup, by the thread of its caller: requests go to one server for each shard, side by side, and what a failed
 * server has not answered goes to another in the next round.
 *
 * <p>A round takes its connections in the order of the servers, and gives all back before the next: so threads that
 * wait for connections of one another never wait in a circle.
 *
 * <p>A connection has at most 4 requests under way, and more than one only if they have at most 64 KiB together. The
 * sockets' buffers have room for these: the client never waits to write while the server waits to write to it.
 */
final class Lookup {
  private static final int UNDER_WAY_MAX = 4;

  private final Cluster cluster;
  private final Found found;
  private final Set<Server> failed = new HashSet<>();
  /** Servers whose kept connections failed: a new one is tried before the server counts as failed. */
  private final Set<Server> restarted = new HashSet<>();
  private List<KeyRequest> left;
  private IOException last;

  Lookup(Cluster cluster, Found found) {
    this.cluster = cluster;
    this.found = found;
  }

  void run(List<KeyRequest> requests) {
    cluster.requireOpen();
    left = requests;
    while (!left.isEmpty()) {
      Collection<Pipe> pipes = plan(left);
      left = new ArrayList<>();
      round(pipes);
    }
  }

  /** Gives each request to a server of its shard. The pipes have the order of the servers. */
  private Collection<Pipe> plan(List<KeyRequest> requests) {
    Map<Integer, Server> ofShard = new HashMap<>();
    Map<Server, Pipe> pipes = new HashMap<>();
    for (KeyRequest request : requests) {
      Server server = ofShard.computeIfAbsent(request.shard, shard -> cluster.choose(request, failed));
      if (server == null) {
        throw cluster.exhausted(request.shard, failed, last);
      }
      pipes.computeIfAbsent(server, Pipe::new).waiting.add(request);
    }
    if (pipes.size() == 1) {
      return pipes.values();
    }
    Map<Server, Pipe> inOrder = new LinkedHashMap<>();
    for (Server server : cluster.servers()) {
      if (pipes.containsKey(server)) {
        inOrder.put(server, pipes.get(server));
      }
    }
    return inOrder.values();
  }

  private void round(Collection<Pipe> pipes) {
    try {
      for (Pipe pipe : pipes) {
        pipe.begin();
      }
      for (boolean isBusy = true; isBusy; ) {
        isBusy = false;
        for (Pipe pipe : pipes) {
          isBusy |= pipe.step();
        }
      }
    } finally {
      for (Pipe pipe : pipes) {
        pipe.end();
      }
    }
  }

  /** The requests of one server and round. */
  private final class Pipe {
    private final Server server;
    private final ArrayDeque<KeyRequest> waiting = new ArrayDeque<>();
    private final ArrayDeque<KeyRequest> sent = new ArrayDeque<>();
    private int sentBytes;
    private Server.Link link;

    Pipe(Server server) {
      this.server = server;
    }

    /** Takes a connection, and sends the first requests. */
    void begin() {
      try {
        link = server.take();
        if (waiting.stream().allMatch(server::canAnswer)) {
          send();
        } else {
          // It answered for the first time, and has another shard.
          leave();
        }
      } catch (IOException e) {
        fail(e);
      }
    }

    private void send() throws IOException {
      while (!waiting.isEmpty() && hasRoom(waiting.peekFirst())) {
        KeyRequest request = waiting.pollFirst();
        sent.addLast(request);
        sentBytes += request.bytes();
        request.send(link.connection, link.handle);
      }
    }

    private boolean hasRoom(KeyRequest next) {
      return sent.isEmpty() || sent.size() < UNDER_WAY_MAX && sentBytes + next.bytes() <= KeyRequest.BYTES_MAX;
    }

    /** Receives one response. Returns false if there is no more to do. */
    boolean step() {
      if (link == null || sent.isEmpty()) {
        return false;
      }
      try {
        receive();
        send();
      } catch (IOException e) {
        fail(e);
      }
      return link != null && !sent.isEmpty();
    }

    private void receive() throws IOException {
      KeyRequest request = sent.peekFirst();
      try {
        Response response = link.connection.receive(Connection.GET);
        found.read(request, response);
      } catch (ErrorResponse e) {
        if (e.code() != ErrorResponse.TOO_LONG || request.count() == 1) {
          throw server.error(e);
        }
        KeyRequest[] halves = request.halves();
        waiting.addFirst(halves[1]);
        waiting.addFirst(halves[0]);
      }
      sent.pollFirst();
      sentBytes -= request.bytes();
    }

    /** Leaves what was not answered to the next round, and the connection with it. */
    private void leave() {
      if (link != null) {
        server.discard(link);
        link = null;
      }
      left.addAll(sent);
      left.addAll(waiting);
      sent.clear();
      waiting.clear();
    }

    private void fail(IOException e) {
      cluster.requireOpen();
      if (Server.isInterrupt(e)) {
        throw server.interrupted(e);
      }
      boolean mayHaveRestarted = link != null && link.isReused && !(e instanceof SocketTimeoutException)
          && restarted.add(server);
      leave();
      last = e;
      if (mayHaveRestarted) {
        server.closeIdle();
      } else {
        failed.add(server);
        cluster.fail(server, e);
      }
    }

    /** Gives the connection back. */
    void end() {
      if (link != null) {
        server.give(link);
        link = null;
      }
    }
  }
}
