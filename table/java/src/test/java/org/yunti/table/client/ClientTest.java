package org.yunti.table.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.table.Batch;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;
import org.yunti.table.Table;
import org.yunti.table.TableException;
import org.yunti.table.written.Certificate;
import org.yunti.table.written.FakeServer;
import org.yunti.table.written.RandomTable;
import org.yunti.table.written.Spec;

/** The client of table servers beside a server of the tests: what it finds, and how it asks. */
@Timeout(60)
class ClientTest {
  private static final String COLUMNS = "user_id:i64,name:utf8,city:dict,score:f32?";

  @TempDir
  Path folder;
  private final List<FakeServer> servers = new ArrayList<>();

  /** Rows as getters. */
  interface User {
    long userId();

    String name();

    Double score();
  }

  /** Rows as copies. */
  record Name(long userId, String name) {
  }

  @AfterEach
  void end() {
    servers.forEach(FakeServer::close);
  }

  private FakeServer users() {
    FakeServer server = new FakeServer("users", COLUMNS, "user_id").add(4711L, "Ada", "Köln", 1.5f)
        .add(4712L, "Bob", "Ulm", null);
    servers.add(server);
    return server;
  }

  private FakeServer numbers(int count) {
    FakeServer server = new FakeServer("numbers", "id:i64,twice:i64", "id");
    servers.add(server);
    for (long i = 0; i < count; i++) {
      server.add(i, 2 * i);
    }
    return server;
  }

  private static long[] keys(int count) {
    return LongStream.range(0, count).toArray();
  }

  private static void requireTwice(Table table, Batch batch, long[] keys) {
    Row row = table.row();
    for (int i = 0; i < keys.length; i++) {
      assertTrue(batch.move(i, row));
      assertEquals(2 * keys[i], row.getLong("twice"));
    }
    assertFalse(batch.move(keys.length, row));
  }

  @Test
  void rowsAreThoseOfAFile() throws Exception {
    FakeServer server = users().listen();
    Row ada;
    try (TableClient users = TableClient.connect("users", server.address())) {
      ada = users.get(4711);
      assertEquals("Ada", ada.getUtf8("name"));
      assertEquals("{user_id=4712, name=Bob, city=Ulm, score=null}", users.get(4712).toString());
      assertNull(users.get(1));
      assertEquals(1.5, users.view(User.class).get(4711).score());
      User view = users.view(User.class).flyweight();
      assertTrue(users.view(User.class).find(4712, view) && view.name().equals("Bob") && view.score() == null);
      assertEquals(new Name(4711, "Ada"), users.as(Name.class).get(4711));
      Map<Long, User> map = users.asMap(Long.class, User.class);
      assertEquals("Bob", map.get(4712L).name());
      assertFalse(map.containsKey(7L));
      assertEquals(2, map.size());
      assertThrows(UnsupportedOperationException.class, () -> map.keySet().iterator());
      assertEquals(2, users.rowCount());
      assertThrows(IllegalArgumentException.class, () -> users.get("Ada"));
      assertEquals(1, server.connections());
    }
    assertEquals("Köln", ada.getUtf8("city"));
  }

  @Test
  void keysOfAllKinds() throws Exception {
    FakeServer shops = new FakeServer("shops", "shop:utf8,day:u8,sold:i32", "shop", "day");
    shops.isSeveral = true;
    shops.add("north", 1, 10).add("north", 1, 11).add("süd", 255, 20).listen();
    servers.add(shops);
    try (TableClient table = TableClient.connect("shops", shops.address())) {
      assertEquals(20, table.get("süd", 255).getInt("sold"));
      assertEquals(10, table.get(table.key().add("north").add(1)).getInt("sold"));
      List<Integer> sold = new ArrayList<>();
      table.getAll("north", 1).forEach(row -> sold.add(row.getInt("sold")));
      assertEquals(List.of(10, 11), sold);
      assertFalse(table.getAll("north", 2).iterator().hasNext());
      int asked = shops.gets.size();
      assertNull(table.get("süd", 256), "a u8 has no 256");
      assertEquals(asked, shops.gets.size());
      assertThrows(IllegalArgumentException.class, () -> table.get("north"));
      Batch batch = table.batch();
      Object[][] keys = {{"süd", 255}, {"süd", 256}, {"east", 1}, {"north", 1}};
      assertEquals(2, table.getAll(keys, batch));
      Row row = table.row();
      assertTrue(batch.move(0, row) && row.getInt("sold") == 20 && batch.move(3, row) && row.getInt("sold") == 10);
      assertFalse(batch.has(1) || batch.has(2));
      assertThrows(IllegalArgumentException.class, () -> table.getAll(new Object[][] {{"north"}}, batch));
    }
    FakeServer blobs = new FakeServer("blobs", "key:bytes,size:u64", "key").add(new byte[] {1, 2}, -1L).listen();
    servers.add(blobs);
    try (TableClient table = TableClient.connect("blobs", blobs.address())) {
      assertEquals(-1, table.get(new byte[] {0, 1, 2}, 1, 2).getLong("size"));
      assertNull(table.get(new byte[] {1}));
    }
  }

  @Test
  void randomTablesHaveTheRowsOfTheirFiles() throws Exception {
    for (int seed = 0; seed < 40; seed++) {
      RandomTable random = new RandomTable(seed);
      Path path = folder.resolve(seed + ".ytab");
      random.writer.write(path);
      String[] columns = random.writer.columns().stream().map(Spec::name).toArray(String[]::new);
      FakeServer server = new FakeServer("t", random.columns, random.key.toArray(new String[0]));
      server.isSeveral = random.isSeveral;
      random.rows.forEach(server::add);
      servers.add(server.listen());
      try (SharedTable file = SharedTable.open(path);
          TableClient client = TableClient.connect("t", ClientOptions.usual().columns(columns), server.address())) {
        int[] key = random.key.stream().mapToInt(file::column).toArray();
        for (Row row : file) {
          Object[] values = IntStream.of(key).mapToObj(row::get).toArray();
          assertEquals(RowTexts.text(file.getAll(values)), RowTexts.text(client.getAll(values)), "seed " + seed);
        }
      }
    }
  }

  @Test
  void columnsThatAreAskedFor() throws Exception {
    FakeServer server = users().listen();
    ClientOptions options = ClientOptions.usual().columns("score", "name");
    try (TableClient users = TableClient.connect("users", options, server.address())) {
      assertEquals("{score=1.5, name=Ada}", users.get(4711).toString());
      assertEquals("[user_id:i64]", users.schema().key().toString());
    }
    TableException e = assertThrows(TableException.class,
        () -> TableClient.connect("users", options.columns("age"), server.address()));
    assertEquals("the table users at " + server.address() + ": the table has no column age; name what the server has",
        e.getMessage());
  }

  @Test
  void batchesAreRequestsOf1024KeysAndFourAreUnderWay() throws Exception {
    FakeServer server = numbers(5000).listen();
    List<byte[]> held = new ArrayList<>();
    server.behaviour = (request, usual) -> {
      if (request.kind() != 3) {
        return usual;
      }
      // The responses of the first four wait for the fourth request.
      held.add(usual);
      if (held.size() < 4) {
        return new byte[0];
      }
      byte[] all = new byte[held.stream().mapToInt(one -> one.length).sum()];
      int at = 0;
      for (byte[] one : held) {
        System.arraycopy(one, 0, all, at, one.length);
        at += one.length;
      }
      held.clear();
      server.behaviour = (later, right) -> right;
      return all;
    };
    try (TableClient table = TableClient.connect("numbers", server.address())) {
      long[] keys = keys(5000);
      Batch batch = table.batch();
      assertEquals(5000, table.getAll(keys, batch));
      requireTwice(table, batch, keys);
      assertEquals(List.of(1024, 1024, 1024, 1024, 904), server.gets.stream().map(FakeServer.Request::keys).toList());
      assertEquals(1, table.getAll(new long[] {-1, 7, 5000}, batch));
      assertTrue(batch.has(1) && !batch.has(0) && !batch.has(2) && !batch.has(3) && batch.size() == 3);
      assertEquals(0, table.getAll(new long[0], batch));
    }
  }

  @Test
  void longKeysAreRequestsOf64KiB() throws Exception {
    FakeServer server = new FakeServer("t", "key:utf8,n:i32", "key");
    servers.add(server);
    String[] keys = new String[40];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = ("é" + i).repeat(i == 7 ? 60_000 : 1500);
      server.add(keys[i], i);
    }
    server.listen();
    try (TableClient table = TableClient.connect("t", server.address())) {
      Batch batch = table.batch();
      assertEquals(40, table.getAll(keys, batch));
      Row row = table.row();
      for (int i = 0; i < keys.length; i++) {
        assertTrue(batch.move(i, row));
        assertEquals(i, row.getInt("n"));
      }
      assertTrue(server.gets.stream().allMatch(get -> get.keys() == 1 || get.bytes() <= 1 << 16));
    }
  }

  @Test
  void keysGoToTheirShardsSideBySide() throws Exception {
    CyclicBarrier barrier = new CyclicBarrier(3);
    String[] addresses = new String[3];
    for (int i = 0; i < 3; i++) {
      FakeServer server = numbers(3000).shard(i + 1, 3).listen();
      server.behaviour = (request, usual) -> {
        if (request.kind() == 3 && request.keys() > 100) {
          barrier.await(5, TimeUnit.SECONDS);
        }
        return usual;
      };
      addresses[i] = server.address();
    }
    try (TableClient table = TableClient.connect("numbers", addresses)) {
      for (long key = 0; key < 100; key++) {
        assertEquals(2 * key, table.get(key).getLong("twice"));
      }
      long[] keys = keys(2000);
      Batch batch = table.batch();
      assertEquals(2000, table.getAll(keys, batch));
      requireTwice(table, batch, keys);
    }
    servers.get(1).close();
    TableException e = assertThrows(TableException.class, () -> TableClient.connect("numbers", addresses));
    assertTrue(e.getMessage().matches("the table numbers: no server that answers has the shard 2 of 3 "
        + "\\(127.0.0.1:\\d+: Connection refused\\); name a server of each shard"), e.getMessage());
  }

  @Test
  void aResponseThatIsTooLongIsAskedForInHalves() throws Exception {
    FakeServer server = numbers(3000).listen();
    server.behaviour = (request, usual) -> request.keys() > 10 || request.keys() == 7
        ? FakeServer.error(request.number(), 5, "the response has 17 MB") : usual;
    try (TableClient table = TableClient.connect("numbers", server.address())) {
      long[] keys = keys(2500);
      Batch batch = table.batch();
      assertEquals(2500, table.getAll(keys, batch));
      requireTwice(table, batch, keys);
      server.behaviour = (request, usual) -> FakeServer.error(request.number(), 5, "the response has 17 MB");
      assertThrows(TableException.class, () -> table.getAll(keys, batch));
      assertFalse(batch.has(0));
    }
  }

  @Test
  void errorsSayWhatAndWhere() throws Exception {
    FakeServer server = users().listen();
    server.token = "open sesame";
    ClientOptions options = ClientOptions.usual();
    String where = "the table users at " + server.address() + ": ";
    assertEquals(where + "the token is wrong; set ClientOptions.token",
        assertThrows(TableException.class, () -> TableClient.connect("users", server.address())).getMessage());
    ClientOptions right = options.token("open sesame");
    TableClient.connect("users", right, server.address()).close();
    assertEquals("the table goods at " + server.address()
        + ": there is no table goods; there is users; name what the server has",
        assertThrows(TableException.class, () -> TableClient.connect("goods", right, server.address())).getMessage());
    for (String wrong : new String[] {"localhost", "localhost:", ":80", "localhost:70000", "::1:80", "a:b", ""}) {
      assertThrows(IllegalArgumentException.class, () -> TableClient.connect("users", wrong), wrong);
    }
    assertThrows(IllegalArgumentException.class, () -> TableClient.connect("users"));
    FakeServer other = new FakeServer("users", "user_id:i64,name:bytes", "user_id").listen();
    servers.add(other);
    FakeServer plain = users().listen();
    String message = assertThrows(TableException.class,
        () -> TableClient.connect("users", plain.address(), other.address())).getMessage();
    assertTrue(message.contains(" has other columns than at the other servers"), message);
    server.close();
    assertEquals("no server answers for the table users (" + server.address()
        + ": Connection refused); start one, or name another",
        assertThrows(TableException.class, () -> TableClient.connect("users", server.address())).getMessage());
  }

  @Test
  void unixSockets() throws Exception {
    Path socket = folder.resolve("users.sock");
    users().listen(socket);
    try (TableClient users = TableClient.connect("users", "unix:" + socket)) {
      assertEquals("Ada", users.get(4711).getUtf8("name"));
    }
    String absent = "unix:" + folder.resolve("absent");
    assertThrows(TableException.class, () -> TableClient.connect("users", absent));
    Files.delete(socket);
  }

  @Test
  void tlsChecksCertificateAndName() throws Exception {
    Certificate right = new Certificate(folder, "right", "EC", "dns:localhost,ip:127.0.0.1");
    Certificate wrong = new Certificate(folder, "wrong", "EC", "dns:example.org");
    FakeServer server = users().listen(right.sockets(), 0);
    ClientOptions options = ClientOptions.usual().tls(right.pem);
    try (TableClient users = TableClient.connect("users", options, "localhost:" + server.port())) {
      assertEquals("Ada", users.get(4711).getUtf8("name"));
      assertEquals(2, users.getAll(keys(5000), users.batch()));
    }
    TableClient.connect("users", options, server.address()).close();
    FakeServer other = users().listen(wrong.sockets(), 0);
    for (ClientOptions refused : List.of(ClientOptions.usual().tls(), ClientOptions.usual().tls(wrong.pem))) {
      TableException e = assertThrows(TableException.class,
          () -> TableClient.connect("users", refused, server.address()));
      assertTrue(e.getMessage().contains("PKIX"), e.getMessage());
    }
    TableException e = assertThrows(TableException.class,
        () -> TableClient.connect("users", ClientOptions.usual().tls(wrong.pem), other.address()));
    assertTrue(e.getMessage().contains("127.0.0.1 found"), e.getMessage());
    assertThrows(TableException.class, () -> ClientOptions.usual().tls(folder.resolve("absent.pem")));
    assertThrows(TableException.class, () -> ClientOptions.usual().tls(right.keyPem));
    // A server without TLS.
    FakeServer plain = users().listen();
    assertThrows(TableException.class, () -> TableClient.connect("users", options, plain.address()));
  }

  @Test
  void threadsShareAClient() throws Exception {
    FakeServer first = numbers(2000).listen();
    FakeServer second = numbers(2000).shard(1, 2).listen();
    FakeServer third = numbers(2000).shard(2, 2).listen();
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try (TableClient table = TableClient.connect("numbers", ClientOptions.usual().connections(2), first.address(),
        second.address(), third.address())) {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        int number = t;
        all.add(threads.submit(() -> {
          Batch batch = table.batch();
          for (int i = 0; i < 200; i++) {
            long key = (number * 251L + i * 7) % 2000;
            assertEquals(2 * key, table.get(key).getLong("twice"));
            if (i % 20 == 0) {
              long[] keys = Arrays.stream(keys(1500)).map(one -> (one + key) % 2000).toArray();
              assertEquals(1500, table.getAll(keys, batch));
              requireTwice(table, batch, keys);
            }
          }
        }));
      }
      for (Future<?> one : all) {
        one.get();
      }
      assertTrue(first.connections() <= 2 && second.connections() <= 2);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void reopenFollowsTheVersion() throws Exception {
    FakeServer server = users().listen();
    TableClient old = TableClient.connect("users", server.address());
    assertSame(old, old.reopen());
    server.version = 8;
    TableClient next = old.reopen();
    assertNotSame(old, next);
    old.close();
    assertEquals("Ada", next.get(4711).getUtf8("name"));
    next.close();
    assertTrue(next.isClosed());
    assertThrows(IllegalStateException.class, () -> next.get(4711));
    assertThrows(IllegalStateException.class, next::reopen);
  }
}
