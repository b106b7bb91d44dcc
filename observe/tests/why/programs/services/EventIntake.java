import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Takes events from devices and stores them afterwards. EventIntake SECONDS STORE_PORT [--cured] */
public final class EventIntake {
  /** Store of events; one line out, one line back. */
  static final class EventStore {
    private final BufferedReader in;
    private final OutputStream out;

    EventStore(int port) {
      try {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        out = socket.getOutputStream();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void put(String event) {
      try {
        out.write((event + '\n').getBytes(StandardCharsets.US_ASCII));
        in.readLine();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final int EVENTS_WAITING_MAX = 5000;

  private final LongAdder stored = new LongAdder();
  private final ThreadLocal<EventStore> store;
  private final ThreadPoolExecutor executor;

  EventIntake(int storePort, int threads) {
    store = ThreadLocal.withInitial(() -> new EventStore(storePort));
    executor = new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(EVENTS_WAITING_MAX));
  }

  private void keep(String event) {
    store.get().put("PUT " + event.hashCode() + ' ' + event.substring(4));
    stored.increment();
  }

  private boolean take(String event) {
    try {
      executor.execute(() -> keep(event));
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private void serve(Socket device) {
    try (device) {
      device.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(device.getInputStream(), StandardCharsets.US_ASCII));
      OutputStream out = device.getOutputStream();
      for (String line; (line = in.readLine()) != null; ) {
        out.write((take(line) ? "OK\n" : "BUSY\n").getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      // The device went away.
    }
  }

  private void accept(ServerSocket server) {
    for (int i = 1; ; i++) {
      try {
        Socket device = server.accept();
        start(() -> serve(device), "device-" + i);
      } catch (IOException e) {
        return;
      }
    }
  }

  private static void start(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    EventIntake intake = new EventIntake(Integer.parseInt(args[1]), List.of(args).contains("--cured") ? 32 : 2);
    ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    System.out.println("listening " + server.getLocalPort());
    start(() -> intake.accept(server), "intake-acceptor");
    Thread.sleep(2500);
    System.out.println("ready");
    long before = intake.stored.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", intake.stored.sum() - before, seconds);
    System.exit(0);
  }
}
