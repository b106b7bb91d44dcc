package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yunti.table.written.TableWriter;

/** Rows as interfaces, records and maps. */
class ViewTest {
  private static final String COLUMNS = "user_id:i64,name:utf8,nick:utf8?,city:dict,age:u8,height:f32,score:f64?,"
      + "active:bool,level:utf8,home:record<street:utf8,number:i32?>?,tags:list<utf8?>,visits:list<i64>,"
      + "moves:list<record<street:utf8,number:i32?>>,picture:bytes";

  @TempDir
  Path folder;
  private SharedTable users;

  /** A class that generated views implement. */
  public enum Level { LOW, HIGH }

  /** A record in a row. */
  public interface Home {
    String street();

    Integer number();
  }

  /** A row; its names are of all kinds that are found. */
  public interface User {
    long userId();

    String name();

    String getNick();

    String city();

    int age();

    double height();

    Double score();

    boolean isActive();

    Level level();

    Home home();

    List<String> tags();

    long[] visits();

    List<Home> moves();

    byte[] picture();

    default String title() {
      return name() + " of " + city();
    }
  }

  /** Without public, a class loader of its own cannot implement it. */
  interface Hidden {
    short age();

    double score();
  }

  record HomeCopy(String street, Integer number) {
  }

  record UserCopy(long userId, String name, float height, HomeCopy home, List<String> tags, long[] visits,
      List<HomeCopy> moves, double score) {
  }

  @BeforeEach
  void write() throws IOException {
    Path path = folder.resolve("users.ytab");
    new TableWriter(COLUMNS, "user_id")
        .add(4711L, "Ada", null, "Köln", 36, 1.5f, 2.5, true, "HIGH", new Object[] {"Ring", 7},
            Arrays.asList("a", null, "ü"), List.of(1L, -2L), List.of((Object) new Object[] {"Weg", null}),
            new byte[] {1, 2})
        .add(-1L, "Bob", "bb", "Ulm", 255, 1.75f, null, false, "LOW", null, List.of(), List.of(), List.of(),
            new byte[0])
        .sorted().write(path);
    users = SharedTable.open(path);
  }

  @AfterEach
  void close() {
    users.close();
    System.clearProperty("yunti.table.views");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "loader", "proxy"})
  void anInterfaceReadsRows(String way) {
    System.setProperty("yunti.table.views", way);
    TypedTable<User> views = users.view(User.class);
    User ada = views.get(4711);
    assertEquals(way.equals("proxy"), java.lang.reflect.Proxy.isProxyClass(ada.getClass()));
    assertEquals(List.of(4711L, "Ada", "Köln", 36, 1.5, 2.5, true, Level.HIGH), List.of(ada.userId(), ada.name(),
        ada.city(), ada.age(), ada.height(), ada.score(), ada.isActive(), ada.level()));
    assertNull(ada.getNick());
    assertEquals("Ring", ada.home().street());
    assertEquals(7, ada.home().number());
    assertEquals(Arrays.asList("a", null, "ü"), ada.tags());
    assertArrayEquals(new long[] {1, -2}, ada.visits());
    assertEquals("Weg", ada.moves().get(0).street());
    assertNull(ada.moves().get(0).number());
    assertArrayEquals(new byte[] {1, 2}, ada.picture());
    assertEquals("Ada of Köln", ada.title());
    User bob = views.get(new Object[] {-1});
    assertEquals(255, bob.age());
    assertNull(bob.home());
    assertNull(bob.score());
    assertNull(views.get(5));
    assertEquals(ada, views.get(4711));
    assertEquals(ada.hashCode(), views.get(4711).hashCode());
    assertNotEquals(ada, bob);
    assertTrue(bob.toString().startsWith("{user_id=-1, name=Bob, nick=bb, city=Ulm, age=255, "), bob.toString());
    assertEquals(List.of("Bob", "Ada"), views.list(users.sorted()).stream().map(User::name).toList());
    users.close();
    assertThrows(IllegalStateException.class, ada::userId);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "loader", "proxy"})
  void aFlyweightMoves(String way) {
    System.setProperty("yunti.table.views", way);
    TypedTable<Hidden> views = users.view(Hidden.class);
    Hidden view = views.flyweight();
    assertTrue(views.find(4711, view));
    assertEquals(36, view.age());
    assertTrue(views.find(-1, view));
    assertEquals(255, view.age());
    assertEquals(0.0, view.score());
    assertFalse(views.find(1, view));
  }

  @Test
  void aRecordIsACopy() {
    UserCopy ada = users.as(UserCopy.class).get(4711);
    UserCopy bob = users.as(UserCopy.class).get(-1);
    users.close();
    assertEquals(new HomeCopy("Ring", 7), ada.home);
    assertEquals(Arrays.asList("a", null, "ü"), ada.tags);
    assertEquals(List.of(new HomeCopy("Weg", null)), ada.moves);
    assertEquals(0.0, bob.score);
    assertEquals("Bob", bob.name);
  }

  @Test
  void wrongClassesAreRefused() {
    interface NoColumn {
      long id();
    }
    interface TooSmall {
      int userId();
    }
    assertMessage("has no column; the columns are (user_id:i64, ", () -> users.view(NoColumn.class));
    assertMessage("user_id:i64 has values that int does not hold", () -> users.view(TooSmall.class));
    assertMessage("is neither an interface nor a record", () -> users.view(String.class));
    assertMessage("is no record class", () -> users.as(User.class));
    assertMessage("there is no column id", () -> users.column("id"));
    assertMessage("a text or bytes is no key of ", () -> users.get("x"));
  }

  private static void assertMessage(String part, org.junit.jupiter.api.function.Executable call) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    assertTrue(message.contains(part), message);
  }

  @Test
  void aTableIsAMap() {
    Map<Long, HomeView> map = users.asMap(Long.class, HomeView.class);
    assertEquals(2, map.size());
    assertTrue(map.containsKey(4711L));
    assertNull(map.get("x"));
    assertNull(map.get(4712L));
    assertNull(map.get(null));
    Map<Long, HomeView> copy = new HashMap<>(map);
    assertEquals(map, copy);
    assertEquals(copy, map);
    assertEquals(map.hashCode(), copy.hashCode());
    assertEquals(copy.keySet(), map.keySet());
    assertTrue(map.entrySet().contains(Map.entry(4711L, new HomeView("Ada"))));
    assertThrows(UnsupportedOperationException.class, () -> map.put(1L, null));
    assertThrows(UnsupportedOperationException.class, () -> map.remove(4711L));
    assertThrows(UnsupportedOperationException.class, map::clear);
    assertThrows(IllegalArgumentException.class, () -> users.asMap(Integer.class, HomeView.class));
  }

  record HomeView(String name) {
  }

  @Test
  void keysOfSeveralColumnsAreLists() throws IOException {
    Path path = folder.resolve("days.ytab");
    new TableWriter("shop:utf8,day:i32,sold:u64", "shop", "day").add("a", 1, 5L).add("a", -1, -1L).write(path);
    try (SharedTable days = SharedTable.open(path)) {
      Map<?, Row> map = days.asMap(List.class, Row.class);
      assertEquals(5, map.get(List.of("a", 1L)).getLong("sold"));
      assertEquals("{shop=a, day=-1, sold=18446744073709551615}", days.get("a", -1).toString());
      assertNull(map.get(List.of("a")));
      assertNull(map.get(List.of(1L, "a")));
    }
  }
}
