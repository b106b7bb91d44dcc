import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Program under steady load that counts its requests. For each line of input it prints the time in nanoseconds and the
 * number of requests so far. Usage: Steady compute|contend|names
 */
public final class Steady {
  private static final LongAdder DONE = new LongAdder();
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static final Object MONITOR = new Object();
  static volatile long sink;

  static long spin(int steps, long x) {
    for (int i = 0; i < steps; i++) {
      x = x * 6364136223846793005L + 1442695040888963407L + (x >>> 17);
    }
    return x;
  }

  /** Computes for some hundred microseconds and creates garbage. */
  static long request(long x) {
    byte[] garbage = new byte[2000 + (int) (x & 1023)];
    for (int i = 0; i < 20; i++) {
      x = step(x);
    }
    garbage[0] = (byte) x;
    return x + garbage.length;
  }

  static long step(long x) {
    return spin(5_000, x);
  }

  /** Runs a request that holds a monitor or a lock, by the parity of {@code x}, for a fifth of its work. */
  static long contending(long x) {
    x = spin(40_000, x);
    if ((x & 1) == 0) {
      synchronized (MONITOR) {
        return spin(10_000, x);
      }
    }
    LOCK.lock();
    try {
      return spin(10_000, x);
    } finally {
      LOCK.unlock();
    }
  }

  /** Runs a request that resolves an address, which the C library finds in a file. */
  static long naming(long x) throws Exception {
    return spin(20_000, x) + InetAddress.getByName("localhost").hashCode();
  }

  interface Request {
    long run(long x) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    java.security.Security.setProperty("networkaddress.cache.ttl", "0");
    Request request = switch (args[0]) {
      case "contend" -> Steady::contending;
      case "names" -> Steady::naming;
      default -> Steady::request;
    };
    int processors = Runtime.getRuntime().availableProcessors();
    for (int i = 0; i < (args[0].equals("contend") ? 4 * processors : processors); i++) {
      long seed = i;
      Thread thread = new Thread(() -> {
        try {
          for (long x = seed; ; DONE.increment()) {
            x = request.run(x);
            sink = x;
          }
        } catch (Exception e) {
          e.printStackTrace();
          System.exit(1);
        }
      }, "worker-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("ready");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    while (input.readLine() != null) {
      System.out.println(System.nanoTime() + " " + DONE.sum());
    }
  }
}
