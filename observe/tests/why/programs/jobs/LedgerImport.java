import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** Imports postings into a ledger, several files at once. LedgerImport SECONDS [--cured] */
public final class LedgerImport {
  /** Balances of accounts; what is taken from one is given to another. */
  static final class Ledger {
    private final long[] cents = new long[10_000];
    private final ReentrantLock lock;
    private long postings;

    Ledger(ReentrantLock lock) {
      this.lock = lock;
    }

    void post(int from, int to, long amount) {
      lock.lock();
      try {
        cents[from] -= amount;
        cents[to] += amount;
        postings++;
      } finally {
        lock.unlock();
      }
    }
  }

  private static final int FILES = 12;
  private final Ledger ledger;
  private final LongAdder posted = new LongAdder();

  LedgerImport(Ledger ledger) {
    this.ledger = ledger;
  }

  private static String line(SplittableRandom file) {
    return file.nextInt(10_000) + ";" + file.nextInt(10_000) + ";" + file.nextInt(100_000) + ";payment";
  }

  private void importFile(int number) {
    SplittableRandom file = new SplittableRandom(number);
    while (true) {
      String[] fields = line(file).split(";");
      ledger.post(Integer.parseInt(fields[0]), Integer.parseInt(fields[1]), Long.parseLong(fields[2]));
      posted.increment();
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    boolean inOrder = !List.of(args).contains("--cured");
    LedgerImport job = new LedgerImport(new Ledger(new ReentrantLock(inOrder)));
    for (int i = 0; i < FILES; i++) {
      int number = i;
      Thread thread = new Thread(() -> job.importFile(number), "import-" + number);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(1500);
    System.out.println("ready");
    long before = job.posted.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.posted.sum() - before, seconds);
  }
}
