import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Leaks answered requests: each one schedules a lambda as its timeout in an hour, which nobody
 * cancels. The lambda captures the request with its body.
 */
public final class Timeouts {
  private static final ScheduledExecutorService TIMER =
      Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "timeouts");
        thread.setDaemon(true);
        return thread;
      });

  private static final class Request {
    final String path;
    final byte[] body;
    final CompletableFuture<String> answer = new CompletableFuture<>();

    Request(String path, int length) {
      this.path = path;
      body = new byte[length];
      body[length / 2] = 1;
    }
  }

  private static String serve(Request request, Supplier<String> backend) {
    TIMER.schedule(
        () -> request.answer.complete("504 " + request.path + request.body.length),
        1,
        TimeUnit.HOURS);
    request.answer.complete(backend.get());
    return request.answer.join();
  }

  public static void main(String[] args) throws Exception {
    int length = 0;
    for (int i = 0; i < 25_000; i++) {
      int number = i;
      length += serve(new Request("/upload/" + i, 700 + i % 13), () -> "200 " + number).length();
    }
    System.out.println("ready " + length);
    System.in.read();
  }
}
