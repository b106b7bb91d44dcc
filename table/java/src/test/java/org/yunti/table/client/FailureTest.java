package org.yunti.table.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;

import javax.net.ServerSocketFactory;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.yunti.table.Batch;
import org.yunti.table.Row;
import org.yunti.table.TableException;
import org.yunti.table.written.FakeServer;

/** The client of table servers when servers end, stall, or send what no server should. */
@Timeout(60)
class FailureTest {
  private static final ClientOptions SHORT = ClientOptions.usual().requestTimeout(Duration.ofMillis(300))
      .connectTimeout(Duration.ofMillis(300));

  private final List<FakeServer> servers = new ArrayList<>();

  @AfterEach
  void end() {
    servers.forEach(FakeServer::close);
  }

  private FakeServer numbers() {
    FakeServer server = new FakeServer("numbers", "id:i64,twice:i64,name:utf8", "id");
    servers.add(server);
    for (long i = 0; i < 8000; i++) {
      server.add(i, 2 * i, "name " + i);
    }
    return server;
  }

  private static void lookUpAll(TableClient table) {
    long[] keys = LongStream.range(0, 8000).toArray();
    Batch batch = table.batch();
    Row row = table.row();
    assertEquals(8000, table.getAll(keys, batch));
    for (int i = 0; i < keys.length; i++) {
      assertTrue(batch.move(i, row));
      assertEquals(2 * keys[i], row.getLong("twice"));
      assertEquals("name " + keys[i], row.getUtf8("name"));
    }
  }

  private static TableException failure(TableClient table) {
    return assertThrows(TableException.class, () -> table.get(1));
  }

  @Test
  void whatAFailedServerHasNotAnsweredGoesToAnother() throws Exception {
    FakeServer good = numbers().listen();
    FakeServer bad = numbers().listen();
    Map<String, FakeServer.Behaviour> faults = new HashMap<>();
    faults.put("it ends", (request, usual) -> new byte[0]);
    faults.put("it ends in a frame", (request, usual) -> Arrays.copyOf(usual, usual.length / 2));
    faults.put("it has too many connections", (request, usual) -> FakeServer.error(request.number(), 7, "full"));
    faults.put("it stalls", (request, usual) -> new byte[0]);
    faults.put("it sends nonsense", (request, usual) -> FakeServer.frame(request.number(), 3, 0xff));
    for (Map.Entry<String, FakeServer.Behaviour> fault : faults.entrySet()) {
      AtomicInteger left = new AtomicInteger(3);
      bad.endsNext = false;
      bad.behaviour = (request, usual) -> {
        if (request.kind() != 3 || left.getAndDecrement() > 0) {
          return usual;
        }
        bad.endsNext = fault.getKey().startsWith("it ends");
        return fault.getValue().respond(request, usual);
      };
      try (TableClient table = TableClient.connect("numbers", SHORT, good.address(), bad.address())) {
        lookUpAll(table);
        lookUpAll(table);
      }
      assertTrue(left.get() < 0, fault.getKey());
    }
  }

  @Test
  void aServerThatHasStartedAgainIsConnectedAgain() throws Exception {
    FakeServer server = numbers().listen();
    try (TableClient table = TableClient.connect("numbers", server.address())) {
      lookUpAll(table);
      server.cut();
      lookUpAll(table);
      server.close();
      assertEquals("no server answers for the table numbers (" + server.address()
          + ": Connection refused); start one, or name another", failure(table).getMessage());
      numbers().listen(ServerSocketFactory.getDefault(), server.port());
      lookUpAll(table);
    }
  }

  @Test
  void aServerThatComesLaterIsUsed() throws Exception {
    FakeServer late = numbers().listen();
    int port = late.port();
    late.close();
    FakeServer first = numbers().shard(1, 2).listen();
    FakeServer second = numbers().shard(2, 2).listen();
    try (TableClient table = TableClient.connect("numbers", "127.0.0.1:" + port, first.address(), second.address())) {
      lookUpAll(table);
      FakeServer now = numbers().shard(2, 2).listen(ServerSocketFactory.getDefault(), port);
      while (now.gets.isEmpty()) {
        table.get(1);
        table.get(2);
        Thread.sleep(20);
      }
      second.close();
      lookUpAll(table);
    }
  }

  @Test
  void aServerWithTheWholeFileStandsInForAShard() throws Exception {
    FakeServer whole = numbers().shard(1, 3).listen();
    FakeServer part = numbers().shard(2, 3).listen();
    FakeServer third = numbers().shard(3, 3).listen();
    whole.isWhole = true;
    try (TableClient table = TableClient.connect("numbers", whole.address(), part.address(), third.address())) {
      third.close();
      for (int i = 0; i < 5; i++) {
        lookUpAll(table);
      }
    }
    whole.isWhole = false;
    third = numbers().shard(3, 3).listen();
    try (TableClient table = TableClient.connect("numbers", whole.address(), part.address(), third.address())) {
      lookUpAll(table);
      third.close();
      String message = assertThrows(TableException.class, () -> lookUpAll(table)).getMessage();
      assertEquals("no server answers for the shard 3 of the table numbers (" + third.address()
          + ": Connection refused); start one, or name another", message);
      for (long key = 0; key < 10; key++) {
        if (whole.shardOf(key) != 3) {
          assertEquals(2 * key, table.get(key).getLong("twice"));
        }
      }
    }
  }

  @Test
  void aServerWithTheWholeFileIsEnoughToConnect() throws Exception {
    FakeServer whole = numbers().shard(1, 3).listen();
    FakeServer gone = numbers().shard(2, 3).listen();
    whole.isWhole = true;
    gone.close();
    for (String[] addresses : new String[][] {{whole.address()}, {gone.address(), whole.address()}}) {
      try (TableClient table = TableClient.connect("numbers", addresses)) {
        lookUpAll(table);
        for (long key = 0; key < 10; key++) {
          assertEquals(2 * key, table.get(key).getLong("twice"));
        }
        assertEquals(8000, table.size());
      }
    }
    whole.isWhole = false;
    String message = assertThrows(TableException.class, () -> TableClient.connect("numbers", whole.address())).getMessage();
    assertEquals("the table numbers: no server that answers has the shard 2 of 3; name a server of each shard", message);
  }

  @Test
  void aServerWithTheWholeFileTakesTheRestOfABatch() throws Exception {
    FakeServer whole = numbers().shard(1, 2).listen();
    FakeServer part = numbers().shard(2, 2).listen();
    whole.isWhole = true;
    AtomicInteger left = new AtomicInteger(2);
    part.behaviour = (request, usual) -> {
      part.endsNext = request.kind() == 3 && left.getAndDecrement() <= 0;
      return part.endsNext ? new byte[0] : usual;
    };
    try (TableClient table = TableClient.connect("numbers", whole.address(), part.address())) {
      lookUpAll(table);
      assertTrue(left.get() < 0, "the server of the second shard ended in the batch");
      part.close();
      lookUpAll(table);
      for (long key = 0; key < 10; key++) {
        assertEquals(2 * key, table.get(key).getLong("twice"));
      }
    }
  }

  @Test
  void countersOfServersThatAnswerAndOfOthers() throws Exception {
    FakeServer good = numbers().listen();
    FakeServer strange = numbers().listen();
    FakeServer gone = numbers().listen();
    try (TableClient table = TableClient.connect("numbers", SHORT, good.address(), strange.address(), gone.address())) {
      gone.close();
      for (String page : new String[] {"a", "a x", "a 1 x", " "}) {
        strange.behaviour = (request, usual) -> request.kind() != 4 ? usual
            : FakeServer.frame(request.number(), 4, page.chars().toArray());
        List<ServerCounters> found = table.serverCounters();
        assertEquals(Map.of("a{b=\"c d\"}", 12.0, "f", 0.5), found.get(0).counters());
        assertEquals(Arrays.asList(good.address(), null), Arrays.asList(found.get(0).address(), found.get(0).error()));
        assertTrue(found.get(1).error().contains("no page for Prometheus"), found.get(1).toString());
        assertEquals(gone.address() + ": Connection refused", found.get(2).toString());
        assertTrue(found.get(1).counters().isEmpty() && found.get(2).counters().isEmpty());
      }
      strange.behaviour = (request, usual) -> FakeServer.error(request.number(), 2, "the token is wrong");
      assertTrue(table.serverCounters().get(1).error().endsWith("the token is wrong; set ClientOptions.token"));
    }
  }

  @Test
  void anEmptyNameIsNoTable() {
    for (String name : new String[] {"", null}) {
      String message = assertThrows(IllegalArgumentException.class, () -> TableClient.connect(name, "unix:/a"))
          .getMessage();
      assertEquals("the name of the table is empty; name one that the servers have", message);
    }
  }

  @Test
  void aServerThatStallsIsAnErrorInTime() throws Exception {
    FakeServer server = numbers().listen();
    try (TableClient table = TableClient.connect("numbers", SHORT, server.address())) {
      server.behaviour = (request, usual) -> new byte[0];
      long begin = System.nanoTime();
      assertEquals("no server answers for the table numbers (" + server.address()
          + ": no response within 0.3 s); start one, or name another", failure(table).getMessage());
      assertTrue(System.nanoTime() - begin < 3e9);
    }
    // A byte now and then does not help.
    servers.forEach(FakeServer::close);
    FakeServer slow = numbers().listen();
    try (TableClient table = TableClient.connect("numbers", SHORT, slow.address())) {
      slow.behaviour = (request, usual) -> {
        Thread.sleep(60);
        return new byte[] {(byte) (request.number() == 2 ? 100 : 0)};
      };
      for (int i = 0; i < 3; i++) {
        assertTrue(failure(table).getMessage().contains("no response within 0.3 s"));
      }
    }
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      TableException e = assertThrows(TableException.class,
          () -> TableClient.connect("numbers", SHORT, "127.0.0.1:" + silent.getLocalPort()));
      assertTrue(e.getMessage().contains("no response within 0.3 s"), e.getMessage());
    }
  }

  @Test
  void tlsWithASilentServerEnds() throws Exception {
    ClientOptions tls = SHORT.tls();
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      TableException e = assertThrows(TableException.class,
          () -> TableClient.connect("numbers", tls, "127.0.0.1:" + silent.getLocalPort()));
      assertTrue(e.getMessage().contains("no connection within 0.3 s"), e.getMessage());
    }
  }

  @Test
  void closeEndsALookup() throws Exception {
    FakeServer server = numbers().listen();
    TableClient table = TableClient.connect("numbers", server.address());
    CountDownLatch asked = new CountDownLatch(1);
    server.behaviour = (request, usual) -> {
      asked.countDown();
      return new byte[0];
    };
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread thread = new Thread(() -> {
      try {
        table.get(1);
      } catch (Throwable e) {
        thrown.set(e);
      }
    });
    thread.start();
    asked.await();
    table.close();
    thread.join();
    assertInstanceOf(IllegalStateException.class, thrown.get());
  }

  @Test
  void anInterruptEndsALookup() throws Exception {
    FakeServer server = numbers().listen();
    try (TableClient table = TableClient.connect("numbers", server.address())) {
      server.behaviour = (request, usual) -> new byte[0];
      Thread.currentThread().interrupt();
      assertTrue(failure(table).getMessage().contains("interrupted"));
      assertTrue(Thread.interrupted());
      server.behaviour = (request, usual) -> usual;
      lookUpAll(table);
    }
  }

  @Test
  void wrongResponsesAreErrors() throws Exception {
    FakeServer server = numbers().listen();
    Map<String, FakeServer.Behaviour> wrong = new HashMap<>();
    wrong.put("a frame of 4294967295 bytes", (request, usual) -> new byte[] {-1, -1, -1, -1});
    wrong.put("a frame of 16777217 bytes", (request, usual) -> new byte[] {1, 0, 0, 1});
    wrong.put("a frame of 4 bytes", (request, usual) -> new byte[] {4, 0, 0, 0, 1, 2, 3, 4});
    wrong.put("answered the request", (request, usual) -> FakeServer.frame(request.number() + 1, 3, 0));
    wrong.put("of the kind 2", (request, usual) -> FakeServer.frame(request.number(), 2, 0));
    wrong.put("is cut", (request, usual) -> FakeServer.frame(request.number(), 3));
    wrong.put("1 bytes more", (request, usual) -> FakeServer.frame(request.number(), 3, 0, 0));
    wrong.put("has 2 rows for a key", (request, usual) -> FakeServer.frame(request.number(), 3, 2, 0, 0));
    wrong.put("a row of 16 bytes", (request, usual) -> FakeServer.frame(request.number(), 3, 1, 16));
    wrong.put("does not end", (request, usual) -> FakeServer.frame(request.number(), 3, 255, 255, 255, 255, 255, 0));
    wrong.put("bad\uFFFD things", (request, usual) -> FakeServer.frame(request.number(), 0, 6, 0, 11, 0, 'b', 'a', 'd',
        255, '\n', 't', 'h', 'i', 'n', 'g', 's'));
    for (Map.Entry<String, FakeServer.Behaviour> one : wrong.entrySet()) {
      server.behaviour = (request, usual) -> request.kind() == 3 ? one.getValue().respond(request, usual) : usual;
      try (TableClient table = TableClient.connect("numbers", SHORT, server.address())) {
        String message = failure(table).getMessage();
        assertTrue(message.contains(one.getKey()) && message.contains(server.address()) && !message.contains("\n"),
            one.getKey() + ": " + message);
      }
    }
  }

  @Test
  void randomDamageIsAnErrorOrAValue() throws Exception {
    FakeServer server = new FakeServer("t", "id:i64,tags:list<utf8?>,home:record<x:i32?,y:list<list<i16>>>,b:bytes?",
        "id");
    servers.add(server);
    for (long i = 0; i < 20; i++) {
      server.add(i, Arrays.asList("a", null, "c"), new Object[] {(int) i, List.of(List.of(1, 2), List.of(3))},
          i % 2 == 0 ? null : new byte[(int) i]);
    }
    server.listen();
    Random random = new Random(11);
    long[] keys = LongStream.range(0, 20).toArray();
    int errors = 0;
    for (int round = 0; round < 600; round++) {
      int kind = round % 6 == 0 ? 1 + random.nextInt(2) : 3;
      server.behaviour = (request, usual) -> {
        byte[] sent = usual.clone();
        if (request.kind() == kind) {
          // Lengths of frames stay mostly, so that the client need not wait for bytes that never come.
          for (int i = 1 + random.nextInt(3); i > 0; i--) {
            sent[4 + random.nextInt(sent.length - 4)] = (byte) random.nextInt(256);
          }
        }
        return sent;
      };
      try (TableClient table = TableClient.connect("t", SHORT, server.address())) {
        Batch batch = table.batch();
        table.getAll(keys, batch);
        Row row = table.row();
        for (int i = 0; i < keys.length; i++) {
          if (batch.move(i, row)) {
            assertNotEquals("", RowTexts.text(List.of(row)));
          }
        }
      } catch (TableException e) {
        assertTrue(!e.getMessage().contains("\n"), e.getMessage());
        errors++;
      }
    }
    assertTrue(errors > 300, errors + " errors");
  }
}
