package org.yunti.table.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.table.Batch;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;
import org.yunti.table.TableException;
import org.yunti.table.written.Certificate;
import org.yunti.table.written.Command;
import org.yunti.table.written.RandomTable;
import org.yunti.table.written.Serve;
import org.yunti.table.written.TableWriter;

/** The client with servers of {@code yunti table serve}. */
@Timeout(60)
class ServeTest {
  private static final int KEYS = 20_000;

  @TempDir
  Path folder;
  private final List<Serve> servers = new ArrayList<>();

  @BeforeEach
  void requireCommand() {
    Command.find();
  }

  @AfterEach
  void end() {
    servers.forEach(Serve::close);
  }

  private Serve serve(String... words) throws IOException {
    Serve server = new Serve(words);
    servers.add(server);
    return server;
  }

  private Path numbers(String name, long factor) throws IOException {
    TableWriter writer = new TableWriter("id:i64,value:i64,name:dict", "id");
    for (long i = 0; i < KEYS; i++) {
      writer.add(i, i * factor, "name " + i % 7);
    }
    Path path = folder.resolve(name);
    writer.write(path);
    return path;
  }

  private static void lookUpAll(TableClient table, long factor) {
    long[] keys = LongStream.range(0, KEYS + 100).toArray();
    Batch batch = table.batch();
    assertEquals(KEYS, table.getAll(keys, batch));
    Row row = table.row();
    for (int i = 0; i < KEYS; i++) {
      assertTrue(batch.move(i, row));
      assertEquals(i * factor, row.getLong("value"));
      assertEquals("name " + i % 7, row.getUtf8("name"));
    }
    assertFalse(batch.move(KEYS, row));
  }

  @Test
  void randomTables() throws Exception {
    List<RandomTable> tables = new ArrayList<>();
    List<String> words = new ArrayList<>();
    for (int seed = 100; seed < 114; seed++) {
      RandomTable random = new RandomTable(seed, true);
      Command.build(Command.find(), random, folder.resolve("rows.json"), folder.resolve(seed + ".ytab"));
      words.add("t" + tables.size() + "=" + folder.resolve(seed + ".ytab"));
      tables.add(random);
    }
    String unix = "unix:" + folder.resolve("socket");
    words.addAll(List.of("--listen", unix, "--listen", "127.0.0.1:0"));
    Serve server = serve(words.toArray(new String[0]));
    for (int i = 0; i < tables.size(); i++) {
      try (SharedTable file = SharedTable.open(folder.resolve(100 + i + ".ytab"));
          TableClient client = TableClient.connect("t" + i, server.addresses.get(i % 2))) {
        assertEquals(file.size(), client.size());
        assertEquals(file.rowCount(), client.rowCount());
        assertEquals(file.schema().key().toString(), client.schema().key().toString());
        int[] key = tables.get(i).key.stream().mapToInt(file::column).toArray();
        for (Row row : file) {
          Object[] values = IntStream.of(key).mapToObj(row::get).toArray();
          assertEquals(RowTexts.text(file.getAll(values)), RowTexts.text(client.getAll(values)), "table " + i);
          assertEquals(RowTexts.text(List.of(file.get(values))), RowTexts.text(List.of(client.get(values))));
        }
      }
    }
    assertEquals("the table other at " + unix + ": there is no table other; the server has t0",
        assertThrows(TableException.class, () -> TableClient.connect("other", unix)).getMessage().split(",")[0]);
  }

  @Test
  void keysThatTheTableCannotHave() throws Exception {
    Path path = folder.resolve("keys.ytab");
    new TableWriter("name:utf8,day:u8,n:i32", "name", "day").add("a", 1, 1).add("", 2, 2).write(path);
    Serve server = serve(path.toString(), "--listen", "127.0.0.1:0");
    try (TableClient table = TableClient.connect("keys", server.address())) {
      assertEquals(1, table.get("a", 1).getInt("n"));
      assertEquals(2, table.get("", 2).getInt("n"));
      assertNull(table.get("a", 257));
      assertNull(table.get("\ud800", 1), "a surrogate alone is no text");
      assertNull(table.get("a".repeat(100_000), 1));
    }
  }

  @Test
  void shardsReplicasAndAServerThatIsKilled() throws Exception {
    String file = numbers("numbers.ytab", 3).toString();
    List<String> addresses = new ArrayList<>();
    for (String shard : new String[] {"1/2", "2/2", "1/2", "2/2"}) {
      addresses.add(serve(file, "--shard", shard, "--listen", "127.0.0.1:0").address());
    }
    try (TableClient table = TableClient.connect("numbers", addresses.toArray(new String[0]))) {
      assertEquals(KEYS, table.size());
      Thread killer = new Thread(() -> {
        servers.get(0).close();
        servers.get(3).close();
      });
      for (int round = 0; round < 20; round++) {
        if (round == 5) {
          killer.start();
        }
        lookUpAll(table, 3);
        assertEquals(9, table.get(3).getLong("value"));
      }
      killer.join();
      servers.get(1).close();
      lookUpAll(table, 3);
    }
    // Files of one shard each.
    List<String> parts = new ArrayList<>();
    for (int part = 1; part <= 2; part++) {
      String path = folder.resolve("part" + part + ".ytab").toString();
      Command.run(Command.find().toString(), "build", file, "--key", "id", "--columns", "value,name", "--shard",
          part + "/2", "-q", "-o", path);
      parts.add(serve("numbers=" + path, "--listen", "127.0.0.1:0").address());
    }
    try (TableClient table = TableClient.connect("numbers", parts.toArray(new String[0]))) {
      assertEquals(KEYS, table.size());
      lookUpAll(table, 3);
      servers.get(5).close();
      String message = assertThrows(TableException.class, () -> lookUpAll(table, 3)).getMessage();
      assertTrue(message.startsWith("no server answers for the shard 2 of the table numbers ("), message);
    }
  }

  @Test
  void shardsWithAndWithoutSeveralRowsOfAKey() throws Exception {
    String file = folder.resolve("numbers.ytab").toString();
    Path csv = Files.writeString(folder.resolve("numbers.csv"), "id\n1\n1\n");
    List<String> addresses = new ArrayList<>();
    for (String shard : new String[] {"1/2", "2/2"}) {
      Command.run(Command.find().toString(), "build", csv.toString(), "--key", "id:i64", "--duplicates", "list", "--shard",
          shard, "-q", "-o", file + addresses.size());
      addresses.add(serve("numbers=" + file + addresses.size(), "--listen", "127.0.0.1:0").address());
    }
    for (int first = 0; first < 2; first++) {
      try (TableClient table = TableClient.connect("numbers", addresses.get(first), addresses.get(1 - first))) {
        assertTrue(table.hasSeveral());
        assertEquals(2, StreamSupport.stream(table.getAll(1).spliterator(), false).count());
      }
    }
  }

  @Test
  void tlsAndToken() throws Exception {
    Certificate certificate = new Certificate(folder, "server", "RSA", "dns:localhost,ip:127.0.0.1");
    Path token = Files.writeString(folder.resolve("token"), "open sesame\n");
    Serve server = serve(numbers("numbers.ytab", 1).toString(), "--listen", "127.0.0.1:0", "--token-file",
        token.toString(), "--tls-cert", certificate.pem.toString(), "--tls-key", certificate.keyPem.toString());
    ClientOptions options = ClientOptions.usual().token("open sesame").tls(certificate.pem);
    try (TableClient table = TableClient.connect("numbers", options, server.address())) {
      lookUpAll(table, 1);
    }
    for (ClientOptions wrong : List.of(options.token(""), options.token("open"))) {
      String message = assertThrows(TableException.class,
          () -> TableClient.connect("numbers", wrong, server.address())).getMessage();
      assertTrue(message.contains(" token"), message);
    }
    ClientOptions plain = ClientOptions.usual().token("open sesame");
    assertThrows(TableException.class, () -> TableClient.connect("numbers", plain, server.address()));
  }

  @Test
  void longResponses() throws Exception {
    Path path = folder.resolve("long.ytab");
    TableWriter writer = new TableWriter("id:i32,text:utf8", "id");
    for (int i = 0; i < 20; i++) {
      writer.add(i, Character.toString('a' + i % 26).repeat((1 << 20) + i));
    }
    writer.write(path);
    Serve server = serve(path.toString(), "--listen", "unix:" + folder.resolve("socket"));
    try (TableClient table = TableClient.connect("long", server.address())) {
      Batch batch = table.batch();
      assertEquals(20, table.getAll(LongStream.range(0, 100).toArray(), batch));
      Row row = table.row();
      for (int i = 0; i < 20; i++) {
        assertTrue(batch.move(i, row));
        assertTrue(row.byteLength(1) == (1 << 20) + i && row.getRange(1).getByte(77) == 'a' + i % 26);
      }
    }
  }

  @Test
  void aReplacedFile() throws Exception {
    Path path = numbers("numbers.ytab", 1);
    Serve server = serve(path.toString(), "--listen", "127.0.0.1:0");
    TableClient old = TableClient.connect("numbers", server.address());
    assertSame(old, old.reopen());
    Files.move(numbers("next.ytab", 2), path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    TableClient next = old;
    while (next == old) {
      Thread.sleep(20);
      next = old.reopen();
    }
    lookUpAll(old, 1);
    lookUpAll(next, 2);
    old.close();
    next.close();
  }
}
