import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.Deflater;

/** Writes the monthly statements of accounts, in batches that share the machine evenly. StatementBatch SECONDS */
public final class StatementBatch {
  record Booking(LocalDate day, String text, BigDecimal amount) {}

  private static final int BOOKINGS = 120;
  private static final int BATCH = 64;
  private static final LocalDate MONTH = LocalDate.of(2024, 3, 1);

  private final LongAdder written = new LongAdder();

  static List<Booking> load(long account) {
    SplittableRandom random = new SplittableRandom(account);
    List<Booking> bookings = new ArrayList<>(BOOKINGS);
    for (int i = 0; i < BOOKINGS; i++) {
      BigDecimal amount = BigDecimal.valueOf(random.nextInt(2_000_000) - 1_000_000, 2);
      bookings.add(new Booking(MONTH.plusDays(random.nextInt(31)), "Order " + random.nextInt(100_000), amount));
    }
    return bookings;
  }

  static Map<LocalDate, BigDecimal> balances(List<Booking> bookings) {
    Map<LocalDate, BigDecimal> balances = new TreeMap<>();
    BigDecimal balance = BigDecimal.ZERO;
    for (Booking booking : bookings) {
      balance = balance.add(booking.amount());
      balances.put(booking.day(), balance);
    }
    return balances;
  }

  static BigDecimal interest(Map<LocalDate, BigDecimal> balances) {
    BigDecimal interest = BigDecimal.ZERO;
    for (BigDecimal balance : balances.values()) {
      interest = interest.add(balance.multiply(new BigDecimal("0.0125")).divide(BigDecimal.valueOf(365), 6,
          RoundingMode.HALF_EVEN));
    }
    return interest.setScale(2, RoundingMode.HALF_EVEN);
  }

  static String page(List<Booking> bookings, BigDecimal interest) {
    StringBuilder page = new StringBuilder();
    for (Booking booking : bookings) {
      page.append(booking.day()).append("  ").append(booking.text()).append("  ")
          .append(booking.amount().toPlainString()).append('\n');
    }
    return page.append("Interest ").append(interest).toString();
  }

  static int deflate(String page) {
    Deflater deflater = new Deflater(1);
    try {
      deflater.setInput(page.getBytes());
      deflater.finish();
      return deflater.deflate(new byte[2 * page.length()]);
    } finally {
      deflater.end();
    }
  }

  private void write(long account) {
    List<Booking> bookings = load(account);
    bookings.sort(Comparator.comparing(Booking::day).thenComparing(Booking::text));
    if (deflate(page(bookings, interest(balances(bookings)))) > 0) {
      written.increment();
    }
  }

  private void run(ExecutorService workers) {
    try {
      for (long batch = 0; ; batch++) {
        List<Future<?>> statements = new ArrayList<>();
        for (long i = 0; i < BATCH; i++) {
          long account = batch * BATCH + i;
          statements.add(workers.submit(() -> write(account)));
        }
        for (Future<?> statement : statements) {
          statement.get();
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    StatementBatch job = new StatementBatch();
    ExecutorService workers = Executors.newFixedThreadPool(2);
    Thread thread = new Thread(() -> job.run(workers), "batch");
    thread.setDaemon(true);
    thread.start();
    Thread.sleep(2500);
    System.out.println("ready");
    long before = job.written.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.written.sum() - before, seconds);
    System.exit(0);
  }
}
