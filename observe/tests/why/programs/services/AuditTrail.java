import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** Keeps the trail of what users did and answers with the end of it. AuditTrail SECONDS [--cured=lock] */
public final class AuditTrail {
  record Entry(String user, String action, List<String> details) {}

  /** The latest entries, and the last of them as text. */
  static final class Trail {
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();

    String add(Entry entry) {
      lock.lock();
      try {
        entries.addLast(entry);
        if (entries.size() > ENTRIES_KEPT) {
          entries.removeFirst();
        }
        return text(entry);
      } finally {
        lock.unlock();
      }
    }

    String addShortly(Entry entry) {
      lock.lock();
      try {
        entries.addLast(entry);
        if (entries.size() > ENTRIES_KEPT) {
          entries.removeFirst();
        }
      } finally {
        lock.unlock();
      }
      return text(entry);
    }

    private static String text(Entry entry) {
      List<String> parts = new ArrayList<>();
      for (int version = 0; version < 40; version++) {
        for (String detail : entry.details()) {
          parts.add(entry.user() + ':' + entry.action() + ':' + detail + '@' + version);
        }
      }
      return Integer.toHexString(String.join("|", parts).hashCode()) + '\n';
    }
  }

  private static final int ENTRIES_KEPT = 4000;
  private static final int DETAILS = 25;

  private final Trail trail = new Trail();
  private final LongAdder served = new LongAdder();
  private final boolean shortly;

  AuditTrail(boolean shortly) {
    this.shortly = shortly;
  }

  private static Entry read(String line) {
    String number = line.substring(4);
    List<String> details = new ArrayList<>(DETAILS);
    for (int i = 0; i < DETAILS; i++) {
      details.add("field-" + i + '=' + number);
    }
    return new Entry("user-" + number, "edit", details);
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
      OutputStream out = client.getOutputStream();
      for (String line; (line = in.readLine()) != null; ) {
        Entry entry = read(line);
        out.write((shortly ? trail.addShortly(entry) : trail.add(entry)).getBytes(StandardCharsets.US_ASCII));
        served.increment();
      }
    } catch (IOException e) {
      // The client went away.
    }
  }

  private void accept(ServerSocket server) {
    for (int i = 1; ; i++) {
      try {
        Socket client = server.accept();
        Thread thread = new Thread(() -> serve(client), "audit-" + i);
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    AuditTrail service = new AuditTrail(List.of(args).contains("--cured=lock"));
    try (ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress())) {
      System.out.println("listening " + server.getLocalPort());
      Thread acceptor = new Thread(() -> service.accept(server), "acceptor");
      acceptor.setDaemon(true);
      acceptor.start();
      Thread.sleep(2500);
      System.out.println("ready");
      long before = service.served.sum();
      Thread.sleep(seconds * 1000L);
      System.out.printf("operations %d in %d s%n", service.served.sum() - before, seconds);
    }
  }
}
