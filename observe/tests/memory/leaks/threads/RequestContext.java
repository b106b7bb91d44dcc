import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Leaks the traces of requests: a ThreadLocal of pool threads that is filled and never removed. */
public final class RequestContext {
  private static final ThreadLocal<Trace> CURRENT = ThreadLocal.withInitial(Trace::new);

  private static final class Trace {
    final List<Span> spans = new ArrayList<>();
  }

  private record Span(String operation, long startNanos, byte[] baggage) {}

  private static void handle(int request) {
    for (int step = 0; step < 20; step++) {
      byte[] baggage = new byte[48];
      baggage[step] = (byte) request;
      CURRENT.get().spans.add(new Span("GET /orders/" + request, System.nanoTime(), baggage));
    }
  }

  public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(6);
    CountDownLatch done = new CountDownLatch(6_000);
    for (int i = 0; i < 6_000; i++) {
      int request = i;
      pool.execute(() -> {
        handle(request);
        done.countDown();
      });
    }
    done.await();
    System.out.println("ready");
    System.in.read();
    pool.shutdown();
  }
}
