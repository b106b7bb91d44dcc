import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** Reads ticks of shares as text and keeps the latest bars of each. TickerAggregator SECONDS */
public final class TickerAggregator {
  record Tick(String share, double price, int volume, Map<String, String> tags) {}

  record Bar(double low, double high, long volume, String source) {}

  private static final int SHARES = 8000;
  private static final int BARS = 20;

  private final LongAdder ticks = new LongAdder();

  private static String message(SplittableRandom random) {
    return "share=S" + random.nextInt(SHARES) + ",price=" + (1000 + random.nextInt(500)) / 10.0 + ",volume="
        + random.nextInt(900)
        + ",venue=X" + random.nextInt(30) + ",trader=T" + random.nextInt(500);
  }

  private static Tick parse(String message) {
    Map<String, String> tags = new LinkedHashMap<>();
    for (String part : message.split(",")) {
      String[] pair = part.split("=");
      tags.put(pair[0], pair[1]);
    }
    return new Tick(tags.get("share"), Double.parseDouble(tags.get("price")), Integer.parseInt(tags.get("volume")),
        tags);
  }

  private static Bar join(Bar bar, Tick tick) {
    String source = tick.tags().get("venue") + '/' + tick.tags().get("trader");
    return new Bar(Math.min(bar.low(), tick.price()), Math.max(bar.high(), tick.price()),
        bar.volume() + tick.volume(), source);
  }

  private void run(int feed) {
    SplittableRandom random = new SplittableRandom(feed);
    Map<String, List<Bar>> shares = new HashMap<>();
    while (true) {
      Tick tick = parse(message(random));
      List<Bar> bars = shares.computeIfAbsent(tick.share(), s -> new ArrayList<>());
      Bar first = new Bar(tick.price(), tick.price(), 0, "");
      int slot = random.nextInt(BARS);
      if (bars.size() < BARS) {
        bars.add(join(first, tick));
      } else {
        bars.set(slot, join(bars.get(slot), tick));
      }
      ticks.increment();
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    TickerAggregator job = new TickerAggregator();
    for (int i = 1; i <= 2; i++) {
      int feed = i;
      Thread thread = new Thread(() -> job.run(feed), "feed-" + feed);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(3000);
    System.out.println("ready");
    long before = job.ticks.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.ticks.sum() - before, seconds);
  }
}
