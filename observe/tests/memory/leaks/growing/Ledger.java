import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Leaks bookings: a sorted map of records in an enum, of which only the last day is ever read. */
public final class Ledger {
  private record Key(int day, long account) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int byDay = Integer.compare(day, other.day);
      return byDay != 0 ? byDay : Long.compare(account, other.account);
    }
  }

  private record Booking(long cents, String text, Instant at) {}

  private enum Bank {
    MAIN,
    BACKUP;

    private final TreeMap<Key, List<Booking>> bookings = new TreeMap<>();

    void book(Key key, Booking booking) {
      bookings.computeIfAbsent(key, any -> new ArrayList<>(4)).add(booking);
    }
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 120_000; i++) {
      Key key = new Key(i / 4_000, i % 2_000);
      Bank.MAIN.book(key, new Booking(i, "Salary " + i, Instant.ofEpochSecond(1_700_000_000L + i)));
    }
    System.out.println("ready");
    System.in.read();
  }
}
