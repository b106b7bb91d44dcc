import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** Converts a supplier's feed from one form of text to another, article by article. FeedConverter SECONDS */
public final class FeedConverter {
  private static final String[] FIELDS = {"number", "title", "colour", "size", "price", "stock", "brand", "weight"};
  private static final int ARTICLES_KEPT = 20_000;

  private final LongAdder converted = new LongAdder();

  private static String line(SplittableRandom random) {
    StringBuilder line = new StringBuilder();
    for (String field : FIELDS) {
      line.append(field).append('=').append(field.charAt(0)).append(random.nextInt(1_000_000)).append('|');
    }
    return line.toString();
  }

  private static Map<String, String> read(String line) {
    Map<String, String> article = new TreeMap<>();
    for (String field : line.split("\\|")) {
      int equals = field.indexOf('=');
      article.put(field.substring(0, equals), field.substring(equals + 1));
    }
    return article;
  }

  private static byte[] write(Map<String, String> article) {
    List<String> members = new ArrayList<>();
    article.forEach((name, value) -> members.add('"' + name + "\": \"" + value + '"'));
    return ("{" + String.join(", ", members) + "}").getBytes(StandardCharsets.UTF_8);
  }

  private void run(int part) {
    SplittableRandom random = new SplittableRandom(part);
    byte[][] kept = new byte[ARTICLES_KEPT][];
    for (int i = 0; ; i = (i + 1) % ARTICLES_KEPT) {
      kept[i] = write(read(line(random)));
      converted.increment();
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    FeedConverter job = new FeedConverter();
    for (int i = 1; i <= 2; i++) {
      int part = i;
      Thread thread = new Thread(() -> job.run(part), "convert-part-" + part);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(2000);
    System.out.println("ready");
    long before = job.converted.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.converted.sum() - before, seconds);
  }
}
