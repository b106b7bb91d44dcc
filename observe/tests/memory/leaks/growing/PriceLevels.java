import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Leaks price levels: levels of an order book whose last order is gone stay in their skip list. */
public final class PriceLevels {
  private record Order(long id, int quantity) {}

  private static final class Level {
    final Deque<Order> orders = new ArrayDeque<>();
    volatile long lastChange;
  }

  private static final class Book {
    final ConcurrentSkipListMap<Long, Level> bids = new ConcurrentSkipListMap<>();
    final ConcurrentSkipListMap<Long, Level> asks = new ConcurrentSkipListMap<>();
  }

  private static final class Exchange {
    private final Map<String, Book> books = new ConcurrentHashMap<>();

    Book book(String symbol) {
      return books.computeIfAbsent(symbol, key -> new Book());
    }
  }

  public static void main(String[] args) throws Exception {
    Exchange exchange = new Exchange();
    for (long i = 0; i < 90_000; i++) {
      Book book = exchange.book(i % 20 == 0 ? "CALM" : "BUSY");
      long price = 1_000_000 + i * 7_919 % 90_001;
      Level level = book.asks.computeIfAbsent(price, key -> new Level());
      level.orders.add(new Order(i, 10));
      level.orders.poll(); // It is filled at once.
      level.lastChange = i;
    }
    System.out.println("ready");
    System.in.read();
    System.out.println(exchange.books.size());
  }
}
