import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** Builds an index of documents: words, their stems, the places where they stand, packed. IndexBuilder SECONDS */
public final class IndexBuilder {
  private static final String[] STEMS = {"water", "light", "house", "travel", "count", "paint", "answer", "garden",
      "signal", "bridge", "table", "letter"};
  private static final String[] ENDINGS = {"", "s", "ed", "ing", "er"};
  private static final int DOCUMENT_WORDS = 400;
  private static final int SEGMENT_DOCUMENTS = 200;

  private final LongAdder indexed = new LongAdder();

  static String fetch(SplittableRandom random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < DOCUMENT_WORDS; i++) {
      text.append(STEMS[random.nextInt(STEMS.length)]).append(ENDINGS[random.nextInt(ENDINGS.length)])
          .append(random.nextInt(40)).append(' ');
    }
    return text.toString();
  }

  static List<String> tokens(String text) {
    List<String> tokens = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == ' ') {
        tokens.add(text.substring(start, i));
        start = i + 1;
      }
    }
    return tokens;
  }

  static String stem(String token) {
    int end = token.length();
    while (end > 0 && Character.isDigit(token.charAt(end - 1))) {
      end--;
    }
    String digits = token.substring(end);
    String word = token.substring(0, end);
    for (String ending : ENDINGS) {
      if (!ending.isEmpty() && word.endsWith(ending)) {
        return word.substring(0, end - ending.length()) + digits;
      }
    }
    return token;
  }

  static void post(Map<String, List<Integer>> places, List<String> tokens, int document) {
    for (int i = 0; i < tokens.size(); i++) {
      places.computeIfAbsent(stem(tokens.get(i)), s -> new ArrayList<>()).add(document * DOCUMENT_WORDS + i);
    }
  }

  static int pack(List<Integer> places, byte[] out) {
    int n = 0;
    int last = 0;
    for (int place : places) {
      int gap = place - last;
      while (gap >= 128) {
        out[n++] = (byte) (gap | 128);
        gap >>>= 7;
      }
      out[n++] = (byte) gap;
      last = place;
    }
    return n;
  }

  static long seal(Map<String, List<Integer>> places) {
    String[] words = places.keySet().toArray(new String[0]);
    Arrays.sort(words);
    byte[] out = new byte[DOCUMENT_WORDS * SEGMENT_DOCUMENTS * 4];
    long bytes = 0;
    for (String word : words) {
      bytes += word.length() + pack(places.get(word), out);
    }
    return bytes;
  }

  private void run(int shard) {
    SplittableRandom random = new SplittableRandom(shard);
    while (true) {
      Map<String, List<Integer>> places = new HashMap<>();
      for (int document = 0; document < SEGMENT_DOCUMENTS; document++) {
        post(places, tokens(fetch(random)), document);
        indexed.increment();
      }
      if (seal(places) == 0) {
        return;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    IndexBuilder job = new IndexBuilder();
    for (int i = 0; i < 2; i++) {
      int shard = i;
      Thread thread = new Thread(() -> job.run(shard), "index-shard-" + shard);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(2500);
    System.out.println("ready");
    long before = job.indexed.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.indexed.sum() - before, seconds);
  }
}
