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
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.LongAdder;

/** Balances of accounts, read from a database. AccountService SECONDS DATABASE_PORT [--cured] */
public final class AccountService {
  /** A connection to the database: a line out, a line back. */
  static final class Connection {
    private final BufferedReader in;
    private final OutputStream out;

    Connection(int port) throws IOException {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      out = socket.getOutputStream();
    }

    String query(String statement) throws IOException {
      out.write((statement + '\n').getBytes(StandardCharsets.US_ASCII));
      return in.readLine();
    }
  }

  /** Open connections, each used by one thread at a time. */
  static final class ConnectionPool {
    private final BlockingQueue<Connection> idle;

    ConnectionPool(int port, int size) throws IOException {
      idle = new ArrayBlockingQueue<>(size);
      for (int i = 0; i < size; i++) {
        idle.add(new Connection(port));
      }
    }

    Connection borrow() throws InterruptedException {
      return idle.take();
    }

    void giveBack(Connection connection) {
      idle.add(connection);
    }
  }

  private final ConnectionPool pool;
  private final LongAdder served = new LongAdder();

  AccountService(ConnectionPool pool) {
    this.pool = pool;
  }

  private String balance(String account) throws IOException, InterruptedException {
    Connection connection = pool.borrow();
    try {
      return connection.query("SELECT balance FROM account WHERE number = " + account);
    } finally {
      pool.giveBack(connection);
    }
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
      OutputStream out = client.getOutputStream();
      for (String line; (line = in.readLine()) != null; ) {
        String answer = "BALANCE " + balance(line.substring(4)).substring(3) + '\n';
        out.write(answer.getBytes(StandardCharsets.US_ASCII));
        served.increment();
      }
    } catch (IOException e) {
      // The client went away.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void accept(ServerSocket server) {
    try {
      for (int i = 0; ; i++) {
        Socket client = server.accept();
        start(() -> serve(client), "http-nio-exec-" + i);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void start(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    int connections = List.of(args).contains("--cured") ? 12 : 1;
    AccountService service = new AccountService(new ConnectionPool(Integer.parseInt(args[1]), connections));
    ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    System.out.println("listening " + server.getLocalPort());
    start(() -> service.accept(server), "http-acceptor");
    Thread.sleep(1500);
    System.out.println("ready");
    long before = service.served.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", service.served.sum() - before, seconds);
  }
}
