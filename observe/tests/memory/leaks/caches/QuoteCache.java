import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.Map;

/** Leaks quotes: the static map {@code BY_KEY} has the time in its key and is never emptied. */
public final class QuoteCache {
  private static final Map<String, Quote> BY_KEY = new HashMap<>();

  private record Quote(String symbol, BigDecimal bid, BigDecimal ask, LocalDateTime at) {}

  private static Quote quote(String symbol, LocalDateTime at, long tick) {
    return BY_KEY.computeIfAbsent(symbol + "@" + at, key -> {
      BigDecimal bid = BigDecimal.valueOf(10_000 + tick % 977, 2);
      return new Quote(symbol, bid, bid.add(BigDecimal.valueOf(3, 2)), at);
    });
  }

  public static void main(String[] args) throws Exception {
    LocalDateTime start = LocalDateTime.of(2024, 2, 29, 9, 0);
    for (int i = 0; i < 90_000; i++) {
      quote("SYM" + i % 300, start.plusSeconds(i), i);
    }
    System.out.println("ready " + BY_KEY.size());
    System.in.read();
  }
}
