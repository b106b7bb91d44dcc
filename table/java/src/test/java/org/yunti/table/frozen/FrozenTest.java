package org.yunti.table.frozen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yunti.table.Row;
import org.yunti.table.SharedTable;
import org.yunti.table.TableException;

/** Graphs of objects that are written and read. */
class FrozenTest {
  @TempDir
  Path folder;

  public enum State { OPEN, SENT }

  public interface HasName {
    String name();

    default String greeting() {
      return "Dear " + name();
    }
  }

  public record Customer(String name, Object lock) implements HasName {
  }

  public interface OrderView {
    long number();

    HasName customer();

    State state();

    List<Integer> amounts();
  }

  public record Order(long number, Customer customer, State state, List<Integer> amounts) implements OrderView {
  }

  public interface ShopView {
    List<? extends OrderView> orders();

    Map<String, ? extends OrderView> byName();

    Set<State> states();

    Optional<Customer> best();

    double[] prices();
  }

  public record Shop(List<Order> orders, Map<String, Order> byName, Set<State> states, Optional<Customer> best,
      double[] prices) implements ShopView {
  }

  public record All(boolean a, byte b, short c, char d, int e, long f, float g, double h, Boolean i, Byte j, Short k,
      Character l, Integer m, Long n, Float o, Double p, String q, Instant r, Duration s, LocalDate t, LocalTime u,
      LocalDateTime v, List<String> w, Map<State, List<Long>> x, Optional<String> y, Object z) {
  }

  private Path path() {
    return folder.resolve("graph.ytab");
  }

  private static Shop shop(Object lock) {
    Customer ada = new Customer("Ada", null);
    Customer bob = new Customer("Bob", lock);
    Order first = new Order(1, ada, State.OPEN, List.of(5, 6));
    Order second = new Order(2, bob, State.SENT, List.of());
    return new Shop(List.of(first, second, first), Map.of("x", first, "y", second), Set.of(State.SENT),
        Optional.of(ada), new double[] {1.5, -0.0});
  }

  @Test
  void anInterfaceReadsTheGraphInPlace() throws IOException {
    SharedTable.freeze(shop(null), path());
    HasName name;
    try (Frozen<ShopView> frozen = Frozen.open(path(), ShopView.class)) {
      ShopView shop = frozen.get();
      assertEquals(3, shop.orders().size());
      assertEquals(List.of(5, 6), shop.orders().get(2).amounts());
      assertEquals(State.SENT, shop.byName().get("y").state());
      assertNull(shop.byName().get("z"));
      assertEquals(Set.of("x", "y"), shop.byName().keySet());
      assertTrue(shop.states().contains(State.SENT));
      assertFalse(shop.states().contains(State.OPEN));
      assertArrayEquals(new double[] {1.5, -0.0}, shop.prices());
      assertEquals(shop.orders().get(0), shop.orders().get(2));
      assertEquals(shop.byName().get("x"), shop.orders().get(0));
      assertEquals(new Customer("Ada", null), shop.best().get());
      name = shop.orders().get(0).customer();
      assertEquals("Dear Ada", name.greeting());
      assertEquals("HasName[name=Ada]", name.toString());
    }
    assertThrows(IllegalStateException.class, name::name);
  }

  @Test
  void aRecordIsCopiedWithWhatItShares() throws IOException {
    Shop shop = shop(null);
    Frozen.write(shop, path());
    Shop copy;
    try (Frozen<Shop> frozen = Frozen.open(path(), Shop.class)) {
      copy = frozen.get();
    }
    assertEquals(shop.orders, copy.orders);
    assertEquals(shop.byName, copy.byName);
    assertEquals(shop.states, copy.states);
    assertSame(copy.orders.get(0), copy.orders.get(2));
    assertSame(copy.orders.get(0), copy.byName.get("x"));
    assertSame(copy.best.get(), copy.orders.get(0).customer);
    assertNotSame(copy.orders.get(0), copy.orders.get(1));
  }

  @Test
  void allTypesAreReadAsTheyWere() throws IOException {
    All all = new All(true, (byte) -1, (short) -2, 'ü', -3, Long.MIN_VALUE, -0.0f, Double.NaN, false, (byte) 1,
        (short) 2, 'x', 3, 4L, 5f, 6.0, "Grüße 🐟", Instant.ofEpochSecond(-5, 6), Duration.ofNanos(-7),
        LocalDate.of(-1, 2, 3), LocalTime.of(4, 5, 6, 7), LocalDateTime.of(8, 9, 10, 11, 12), Arrays.asList("a", null),
        Map.of(State.OPEN, List.of(1L)), Optional.empty(), List.of(1, "two", 3L, Map.of(4, 5.0)));
    Frozen.write(all, path());
    try (Frozen<All> frozen = Frozen.open(path(), All.class)) {
      assertEquals(all, frozen.get());
    }
  }

  @Test
  void mapsOfManyKeysAreSearchedByTheirIndex() throws IOException {
    Map<Integer, String> map = IntStream.range(0, 5000).boxed().collect(Collectors.toMap(i -> i * 7, i -> "v" + i));
    Frozen.write(map, path());
    try (Frozen<?> frozen = Frozen.open(path(), Map.class)) {
      Map<?, ?> read = (Map<?, ?>) frozen.get();
      map.forEach((key, value) -> assertEquals(value, read.get(key)));
      assertNull(read.get(1));
      assertNull(read.get("1"));
      assertNull(read.get(7L));
      assertEquals(map, read);
    }
    Frozen.write(Map.of(List.of(1, 2), "pair"), path());
    try (Frozen<?> frozen = Frozen.open(path(), Map.class)) {
      assertEquals("pair", ((Map<?, ?>) frozen.get()).get(List.of(1, 2)));
    }
  }

  @Test
  void whatCannotBeFrozenIsNamedWithItsPath() {
    List<Object> cycle = new ArrayList<>(List.of(1));
    cycle.add(cycle);
    assertMessage("orders[1].customer.lock: java.util.concurrent.locks.ReentrantLock cannot be frozen",
        shop(new ReentrantLock()));
    assertMessage("[1]: is an object that contains it: cycles cannot be frozen", cycle);
    assertMessage("the root: java.lang.Object cannot be frozen", new Object());
    assertMessage("[a][0]: a text with half a surrogate pair", Map.of("a", List.of("\ud800")));
    List<Object> deep = List.of();
    for (int i = 0; i < 5000; i++) {
      deep = List.of(deep);
    }
    assertMessage("is nested more than 1000 deep", deep);
  }

  private void assertMessage(String part, Object graph) {
    String message = assertThrows(IllegalArgumentException.class, () -> Frozen.write(graph, path())).getMessage();
    assertTrue(message.contains(part), message);
  }

  @Test
  void classesAreNotLoadedByTheirNames() throws IOException {
    Frozen.write(List.of(shop(null)), path());
    try (Frozen<?> frozen = Frozen.open(path(), List.class)) {
      List<?> list = (List<?>) frozen.get();
      String message = assertThrows(IllegalArgumentException.class, () -> list.get(0)).getMessage();
      assertTrue(message.contains("give Frozen.open the class"), message);
    }
    try (Frozen<?> frozen = Frozen.open(path(), List.class, ShopView.class)) {
      assertEquals(3, ((ShopView) ((List<?>) frozen.get()).get(0)).orders().size());
    }
  }

  @Test
  void theFileIsATable() throws IOException {
    Frozen.write(IntStream.range(0, 100_000).boxed().toList(), path());
    try (SharedTable table = SharedTable.open(path())) {
      table.verify();
      assertTrue(table.get("objects").byteLength(table.column("content")) > 500_000);
    }
    try (Frozen<?> frozen = Frozen.open(path(), List.class)) {
      assertEquals(99_999, ((List<?>) frozen.get()).get(99_999));
    }
  }

  @Test
  void damagedObjectsAreRefused() {
    byte[][] parts = Freezer.freeze(shop(null));
    Random random = new Random(1);
    int refused = 0;
    for (int i = 0; i < 1000; i++) {
      byte[][] damaged = {parts[0].clone(), parts[1].clone()};
      byte[] part = damaged[i % 4 == 0 ? 0 : 1];
      part[random.nextInt(part.length)] = (byte) random.nextInt();
      refused += isRefused(damaged) ? 1 : 0;
    }
    assertTrue(refused > 150, "only " + refused + " were refused");
  }

  private boolean isRefused(byte[][] parts) {
    try {
      PartFile.write(path(), parts, false);
      try (Frozen<Shop> frozen = Frozen.open(path(), Shop.class)) {
        frozen.get().toString();
      }
      return false;
    } catch (TableException | IllegalArgumentException | ClassCastException | java.time.DateTimeException e) {
      return true;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anotherTableHasNoObjects() throws IOException {
    new org.yunti.table.written.TableWriter("id:i64", "id").add(1L).write(path());
    assertThrows(IllegalArgumentException.class, () -> Frozen.open(path(), Row.class));
  }
}
