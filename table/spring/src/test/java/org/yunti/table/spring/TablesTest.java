package org.yunti.table.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.mock.env.MockEnvironment;
import org.yunti.table.SharedTable;
import org.yunti.table.Table;
import org.yunti.table.TableException;
import org.yunti.table.client.TableClient;
import org.yunti.table.written.Certificate;
import org.yunti.table.written.FakeServer;

/** Tables as beans: injected by name, closed with the context, and in their newest version. */
@Timeout(60)
class TablesTest {
  @TempDir
  Path folder;
  private final ApplicationContextRunner runner = new ApplicationContextRunner()
      .withConfiguration(AutoConfigurations.of(YuntiTableAutoConfiguration.class));

  /** A table of frozen objects has rows like any other, and needs no command to be written. */
  private Path write(String name, List<?> content) throws IOException {
    Path path = folder.resolve(name);
    SharedTable.freeze(content, path);
    return path;
  }

  /** An application's bean. */
  record Shop(SharedTable users, SharedTable goods, Tables tables) {
  }

  @Test
  void tablesAreInjectedByNameAndClosedWithTheContext() throws IOException {
    Path users = write("users.ytab", List.of("Ada"));
    Path goods = write("goods.ytab", List.of("tea", "rice"));
    SharedTable[] injected = new SharedTable[2];
    runner.withPropertyValues("yunti.tables.users=" + users, "yunti.tables.goods=" + goods).withBean(Shop.class)
        .run(context -> {
          Shop shop = context.getBean(Shop.class);
          assertEquals(users, shop.users().path());
          assertEquals(goods, shop.goods().path());
          assertSame(shop.users(), shop.tables().get("users"));
          assertSame(shop.users(), context.getBean("users"));
          assertEquals(Set.of("users", "goods"), shop.tables().names());
          assertEquals(2, context.getBeansOfType(Table.class).size());
          injected[0] = shop.users();
          injected[1] = shop.goods();
          assertTrue(shop.users().get("classes") != null && !shop.users().isClosed());
          assertThrows(IllegalArgumentException.class, () -> shop.tables().get("shops"));
        });
    assertTrue(injected[0].isClosed() && injected[1].isClosed());
  }

  @Test
  void aReplacedFileIsReopened() throws IOException {
    Path users = write("users.ytab", List.of("Ada"));
    runner.withPropertyValues("yunti.tables.users=" + users, "yunti.table-check-interval=20ms").run(context -> {
      Tables tables = context.getBean(Tables.class);
      Table first = tables.get("users");
      write("users.ytab", List.of("Ada", "Bob", "Cy"));
      while (tables.get("users") == first) {
        Thread.sleep(5);
      }
      assertFalse(first.isClosed(), "the bean stays open");
      assertSame(first, context.getBean("users"));
      // A file that is none leaves the old one.
      Table second = tables.get("users");
      Files.move(Files.writeString(folder.resolve("none"), "no table"), users,
          java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      tables.refresh();
      assertSame(second, tables.get("users"));
      write("users.ytab", List.of("Dora"));
      tables.refresh();
      assertNotSame(second, tables.get("users"));
      assertFalse(second.isClosed(), "rows of the old version may be in use");
    });
  }

  @Test
  void wrongSettingsEndTheStart() {
    runner.withPropertyValues("yunti.tables.users=" + folder.resolve("absent.ytab")).run(context -> {
      String message = root(context.getStartupFailure()).toString();
      assertTrue(message.contains("absent.ytab"), message);
    });
    runner.withPropertyValues("yunti.tables.users.servers=127.0.0.1:1,unix:" + folder.resolve("absent"))
        .run(context -> {
          TableException e = assertInstanceOf(TableException.class, root(context.getStartupFailure(),
              TableException.class));
          assertTrue(e.getMessage().startsWith("no server answers for the table users (127.0.0.1:1: "), e.getMessage());
        });
    runner.withPropertyValues("yunti.tables.users.token=x").run(context -> assertTrue(
        root(context.getStartupFailure()).getMessage().contains("has neither a file nor servers")));
    runner.withPropertyValues("yunti.tables.users=a.ytab", "yunti.tables.users.servers=b:1").run(context -> assertTrue(
        root(context.getStartupFailure()).getMessage().contains("has a file and servers")));
    runner.run(context -> assertEquals(Set.of(), context.getBean(Tables.class).names()));
  }

  @Test
  void aTableOfServersWithTls() throws Exception {
    Certificate own = new Certificate(folder, "own", "EC", "ip:127.0.0.1");
    Certificate other = new Certificate(folder, "other", "EC", "ip:127.0.0.1");
    try (FakeServer server = new FakeServer("users", "id:i64,name:utf8", "id")) {
      server.add(7L, "Ada").token = "secret";
      String servers = "yunti.tables.users.servers=" + server.listen(own.sockets(), 0).address();
      String token = "yunti.tables.users.token=secret";
      TableClient[] injected = new TableClient[1];
      runner.withPropertyValues(servers, token, "yunti.tables.users.certificates=" + own.pem).run(context -> {
        injected[0] = context.getBean("users", TableClient.class);
        assertEquals("Ada", injected[0].get(7).getUtf8("name"));
        assertSame(injected[0], context.getBean(Tables.class).get("users"));
      });
      assertTrue(injected[0].isClosed());
      // Another authority, those of the JDK, no TLS, and another token.
      failsAtTheStart("PKIX", servers, token, "yunti.tables.users.certificates=" + other.pem);
      failsAtTheStart("PKIX", servers, token, "yunti.tables.users.tls=true");
      failsAtTheStart("no server answers for the table users", servers, token);
      failsAtTheStart("the token is wrong; set ClientOptions.token", servers, "yunti.tables.users.token=x",
          "yunti.tables.users.certificates=" + own.pem);
      failsAtTheStart("absent.pem", servers, token, "yunti.tables.users.certificates=" + folder.resolve("absent.pem"));
    }
  }

  private void failsAtTheStart(String part, String... settings) {
    runner.withPropertyValues(settings).run(context -> {
      String message = root(context.getStartupFailure(), TableException.class).getMessage();
      assertTrue(message.contains(part), message);
    });
  }

  @Test
  void settingsOfServers() {
    MockEnvironment environment = new MockEnvironment()
        .withProperty("yunti.tables.shops.servers[0]", "unix:/run/shops")
        .withProperty("yunti.tables.shops.servers[1]", "h:1")
        .withProperty("yunti.tables.shops.token", "secret").withProperty("yunti.tables.shops.certificates", "ca.pem")
        .withProperty("yunti.tables.shops.columns", "day,sold").withProperty("yunti.tables.user_data", "u.ytab");
    List<TableSettings> all = TableSettings.of(environment);
    assertEquals(Set.of(
        new TableSettings("shops", null, List.of("unix:/run/shops", "h:1"), "secret", true, Path.of("ca.pem"),
            List.of("day", "sold")),
        new TableSettings("user_data", Path.of("u.ytab"), List.of(), "", false, null, List.of())), Set.copyOf(all));
  }

  private static Throwable root(Throwable e) {
    return root(e, Throwable.class);
  }

  /** Returns the innermost cause of a class. */
  private static Throwable root(Throwable e, Class<?> type) {
    Throwable found = null;
    for (Throwable one = e; one != null; one = one.getCause()) {
      found = type.isInstance(one) ? one : found;
    }
    return found;
  }
}
