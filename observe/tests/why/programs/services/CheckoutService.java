import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/**
 * Checks out baskets: sums them, asks the tax office's service for the tax, answers. CheckoutService SECONDS
 * TAX_PORT
 */
public final class CheckoutService {
  /** The service that knows taxes; a line out, a line back. */
  static final class TaxClient {
    private final BufferedReader in;
    private final OutputStream out;

    TaxClient(int port) {
      try {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        out = socket.getOutputStream();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    long taxOf(long cents) throws IOException {
      out.write(("TAX " + cents + '\n').getBytes(StandardCharsets.US_ASCII));
      return Long.parseLong(in.readLine().substring(3));
    }
  }

  private final LongAdder served = new LongAdder();
  private final ThreadLocal<TaxClient> tax;

  CheckoutService(int taxPort) {
    tax = ThreadLocal.withInitial(() -> new TaxClient(taxPort));
  }

  private static long sum(long basket) {
    SplittableRandom items = new SplittableRandom(basket);
    long cents = 0;
    for (int i = 0; i < 40; i++) {
      cents += items.nextInt(20_000);
    }
    return cents;
  }

  private String checkOut(long basket) throws IOException {
    long cents = sum(basket);
    return "TOTAL " + cents + " TAX " + tax.get().taxOf(cents) + '\n';
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
      OutputStream out = client.getOutputStream();
      for (String line; (line = in.readLine()) != null; ) {
        out.write(checkOut(Long.parseLong(line.substring(4))).getBytes(StandardCharsets.US_ASCII));
        served.increment();
      }
    } catch (IOException e) {
      // The client went away.
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    CheckoutService service = new CheckoutService(Integer.parseInt(args[1]));
    ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    System.out.println("listening " + server.getLocalPort());
    ExecutorService requests = Executors.newCachedThreadPool();
    Thread acceptor = new Thread(() -> {
      while (true) {
        try {
          Socket client = server.accept();
          requests.execute(() -> service.serve(client));
        } catch (IOException e) {
          return;
        }
      }
    }, "acceptor");
    acceptor.setDaemon(true);
    acceptor.start();
    Thread.sleep(1500);
    System.out.println("ready");
    long before = service.served.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", service.served.sum() - before, seconds);
    System.exit(0);
  }
}
