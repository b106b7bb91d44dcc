import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/**
 * Finds customers that were entered twice: those of one town whose names are nearly the same. CustomerDedup
 * SECONDS [--cured]
 */
public final class CustomerDedup {
  record Customer(String name, String town) {}

  private static final String[] SYLLABLES = {"an", "ber", "che", "do", "el", "fri", "ga", "hol", "in", "ka", "lo",
      "mar", "ne", "ste", "ulm", "wa"};
  private static final int TOWNS = 600;
  private static final int CANDIDATES = 30;

  private final LongAdder compared = new LongAdder();
  private final boolean soundsFirst;

  CustomerDedup(boolean soundsFirst) {
    this.soundsFirst = soundsFirst;
  }

  private static String word(SplittableRandom random, int syllables) {
    StringBuilder word = new StringBuilder();
    for (int i = 0; i < syllables; i++) {
      word.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
    }
    return Character.toUpperCase(word.charAt(0)) + word.substring(1);
  }

  private static Customer read(SplittableRandom random) {
    return new Customer(word(random, 3) + ' ' + word(random, 4), "Town " + random.nextInt(TOWNS));
  }

  private static String normalise(String name) {
    return name.trim().toLowerCase(Locale.ROOT).replace('-', ' ');
  }

  private static String sound(String name) {
    StringBuilder sound = new StringBuilder(name.length());
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if ("aeiou ".indexOf(c) < 0) {
        sound.append(c);
      }
    }
    return sound.toString();
  }

  private static int distance(String a, String b) {
    int[][] steps = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          steps[i][j] = i + j;
        } else {
          int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
          steps[i][j] = Math.min(steps[i - 1][j - 1] + change, 1 + Math.min(steps[i - 1][j], steps[i][j - 1]));
        }
      }
    }
    return steps[a.length()][b.length()];
  }

  private boolean same(String name, String sound, String other, String otherSound) {
    return (!soundsFirst || sound.equals(otherSound)) && distance(name, other) <= 2;
  }

  private void run(int worker) {
    SplittableRandom random = new SplittableRandom(worker);
    Map<String, List<String[]>> towns = new HashMap<>();
    while (true) {
      Customer customer = read(random);
      String name = normalise(customer.name());
      String sound = sound(name);
      List<String[]> known = towns.computeIfAbsent(customer.town(), t -> new ArrayList<>());
      boolean found = false;
      for (String[] other : known) {
        found |= same(name, sound, other[0], other[1]);
      }
      if (!found) {
        if (known.size() == CANDIDATES) {
          known.remove(0);
        }
        known.add(new String[] {name, sound});
      }
      compared.increment();
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    CustomerDedup job = new CustomerDedup(List.of(args).contains("--cured"));
    for (int i = 1; i <= 2; i++) {
      int worker = i;
      Thread thread = new Thread(() -> job.run(worker), "dedup-" + worker);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(2000);
    System.out.println("ready");
    long before = job.compared.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.compared.sum() - before, seconds);
  }
}
