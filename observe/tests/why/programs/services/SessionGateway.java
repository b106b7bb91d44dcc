import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Manages sessions: counts each request, renews its session, signs its answer. SessionGateway SECONDS */
public final class SessionGateway {
  record Session(String user, long renewedMillis, int requests) {}

  /** Sessions by key; the ones unused for longest go first. */
  static final class SessionTable {
    private final LinkedHashMap<String, Session> sessions = new LinkedHashMap<>(1024, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<String, Session> eldest) {
        return size() > 20_000;
      }
    };

    synchronized Session renew(String key, long nowMillis) {
      Session session = sessions.get(key);
      session = new Session("user-" + key, nowMillis, session == null ? 1 : session.requests() + 1);
      sessions.put(key, session);
      return session;
    }
  }

  /** Counters by name. */
  static final class Metrics {
    private final Map<String, Long> counts = new HashMap<>();

    synchronized void count(String name) {
      counts.merge(name, 1L, Long::sum);
    }
  }

  private final SessionTable sessions = new SessionTable();
  private final Metrics metrics = new Metrics();
  private final LongAdder served = new LongAdder();

  private static String sign(Session session) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] signature = session.toString().getBytes(StandardCharsets.UTF_8);
      for (int i = 0; i < 6; i++) {
        signature = digest.digest(signature);
      }
      return HexFormat.of().formatHex(signature);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
      OutputStream out = client.getOutputStream();
      for (String line; (line = in.readLine()) != null; ) {
        metrics.count("requests");
        Session session = sessions.renew(line.substring(4), System.currentTimeMillis());
        metrics.count(session.requests() == 1 ? "sessions.new" : "sessions.renewed");
        out.write((session.user() + ' ' + sign(session) + '\n').getBytes(StandardCharsets.US_ASCII));
        metrics.count("answers");
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
        Thread thread = new Thread(() -> serve(client), "gateway-" + i);
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    SessionGateway gateway = new SessionGateway();
    try (ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress())) {
      System.out.println("listening " + server.getLocalPort());
      Thread acceptor = new Thread(() -> gateway.accept(server), "gateway-acceptor");
      acceptor.setDaemon(true);
      acceptor.start();
      Thread.sleep(2500);
      System.out.println("ready");
      long before = gateway.served.sum();
      Thread.sleep(seconds * 1000L);
      System.out.printf("operations %d in %d s%n", gateway.served.sum() - before, seconds);
    }
  }
}
