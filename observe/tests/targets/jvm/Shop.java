import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** Runs the lines of its standard input, each a known number of calls of known length, and answers each with "done". */
public final class Shop {
  static volatile long sink;

  /** Nested calls of known times. */
  static final class Cart {
    private final int items;

    Cart(int items) {
      this.items = items;
    }

    long total() throws InterruptedException {
      long sum = 0;
      for (int i = 0; i < items; i++) {
        sum += price(i);
      }
      Thread.sleep(10);
      return sum;
    }

    int price(int item) throws InterruptedException {
      Thread.sleep(2);
      return item * 3;
    }

    int price(String item) {
      return item.length();
    }

    synchronized int locked(long a, double b, byte c, Object d) {
      return (int) (a + b + c) + (d == null ? 0 : 1);
    }

    native int missing();
  }

  static final class Shy {
    @Override
    public String toString() {
      throw new IllegalStateException("no text");
    }
  }

  static final class Nested {
    @Override
    public String toString() {
      return "nested " + recursive(3);
    }
  }

  static class Base {
    Base(boolean fails) {
      if (fails) {
        throw new IllegalArgumentException("no base");
      }
    }
  }

  static final class Derived extends Base {
    final List<String> list;

    Derived(boolean fails, String text) {
      super(fails ? new ArrayList<String>().isEmpty() : Boolean.parseBoolean(text));
      list = text == null ? new ArrayList<>() : List.of(text);
    }
  }

  static Object echo(Object value) {
    return value;
  }

  static int recursive(int depth) {
    return depth == 0 ? 0 : 1 + recursive(depth - 1);
  }

  static void fails(boolean does) {
    if (does) {
      throw new UnsupportedOperationException("on request");
    }
  }

  static void empty() {}

  static void waits(long millis) throws InterruptedException {
    Thread.sleep(millis);
  }

  /** Returns nanoseconds per call, the best of some rounds. Each call does a little work, so that the loop stays. */
  static double costOfEmpty() {
    double best = Double.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      int calls = 500_000;
      long begin = System.nanoTime();
      for (int i = 0; i < calls; i++) {
        sink = i;
        empty();
      }
      best = Math.min(best, (System.nanoTime() - begin) / (double) calls);
    }
    return best;
  }

  private static void threads(int count, boolean areVirtual, int calls) throws Exception {
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Runnable work = () -> {
        for (int j = 0; j < calls; j++) {
          recursive(1);
        }
      };
      Thread thread = areVirtual
          ? (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work)
          : new Thread(work, "worker-" + i);
      if (!areVirtual) {
        thread.start();
      }
      all.add(thread);
    }
    for (Thread thread : all) {
      thread.join();
    }
  }

  private static void act(String[] words) throws Exception {
    int n = words.length > 1 ? Integer.parseInt(words[1]) : 1;
    switch (words[0]) {
      case "carts" -> {
        for (int i = 0; i < n; i++) {
          new Cart(3).total();
        }
      }
      case "recursive" -> recursive(n);
      case "fails" -> {
        for (int i = 0; i < n; i++) {
          try {
            fails(i % 2 == 0);
          } catch (UnsupportedOperationException e) {
            sink++;
          }
        }
      }
      case "constructors" -> {
        for (int i = 0; i < n; i++) {
          new Derived(false, "false");
          try {
            new Derived(true, null);
          } catch (IllegalArgumentException e) {
            sink++;
          }
        }
      }
      case "values" -> {
        echo(null);
        echo("text");
        echo(new int[] {1, 2});
        echo(new Shy());
        echo(new Nested());
        echo("long".repeat(100));
        new Cart(0).locked(1L, 2.0, (byte) 3, null);
      }
      case "lists" -> {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < n; i++) {
          list.add(i);
        }
        sink += list.size();
      }
      case "later" -> sink += ((IntSupplier) Class.forName("Later").getDeclaredConstructor().newInstance()).getAsInt();
      case "empty" -> {
        for (int i = 0; i < n; i++) {
          empty();
        }
      }
      case "cost" -> System.out.println(costOfEmpty());
      case "threads" -> threads(n, false, 100);
      case "virtual" -> threads(n, true, 1);
      case "waits" -> waits(n);
      case "background" -> new Thread(() -> {
        try {
          waits(n);
        } catch (InterruptedException e) {
          sink++;
        }
      }, "background").start();
      case "exit" -> System.exit(0);
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  public static void main(String[] args) throws IOException {
    Class<?>[] loaded = {Cart.class, Shy.class, Nested.class, Derived.class, Latest.class};
    sink += loaded.length;
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line; (line = in.readLine()) != null; System.out.println("done")) {
      try {
        act(line.split(" "));
      } catch (Throwable e) {
        System.out.println(e);
      }
    }
  }
}

/** Loaded by a command. */
final class Later implements IntSupplier {
  @Override
  public int getAsInt() {
    return 7;
  }
}

/** Loaded from the beginning. */
final class Latest {
  int getAsInt() {
    return 8;
  }
}
