import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Answers a product's number with the best quotes of its sellers. QuoteStream SECONDS */
public final class QuoteStream {
  record Quote(String seller, long cents, int days) {}

  private static final int QUOTES = 300;
  private static final int PRODUCTS_CACHED = 20_000;

  private final ConcurrentHashMap<Long, String> titles = new ConcurrentHashMap<>();
  private final LongAdder served = new LongAdder();

  private String title(long number) {
    return titles.computeIfAbsent(number % PRODUCTS_CACHED, n -> "Product " + n + " of the series " + n * 7919 % 997);
  }

  private static List<Quote> quotes(long number) {
    List<Quote> quotes = new ArrayList<>();
    for (int i = 0; i < QUOTES; i++) {
      long mixed = (number + i) * 0x9E3779B97F4A7C15L;
      quotes.add(new Quote("Seller " + (mixed >>> 54), mixed >>> 44, (int) (mixed >>> 40 & 15)));
    }
    return quotes;
  }

  private String best(long number) {
    return quotes(number).stream()
        .filter(quote -> quote.days() < 10)
        .sorted(Comparator.comparingLong(Quote::cents))
        .limit(10)
        .map(quote -> quote.seller() + ' ' + quote.cents())
        .collect(Collectors.joining(", ", title(number) + ": ", "\n"));
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
      OutputStream out = client.getOutputStream();
      for (String line; (line = in.readLine()) != null; ) {
        out.write(best(Long.parseLong(line.substring(4))).getBytes(StandardCharsets.US_ASCII));
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
        Thread thread = new Thread(() -> serve(client), "quotes-" + i);
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    QuoteStream stream = new QuoteStream();
    try (ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress())) {
      System.out.println("listening " + server.getLocalPort());
      Thread acceptor = new Thread(() -> stream.accept(server), "acceptor");
      acceptor.setDaemon(true);
      acceptor.start();
      Thread.sleep(2500);
      System.out.println("ready");
      long before = stream.served.sum();
      Thread.sleep(seconds * 1000L);
      System.out.printf("operations %d in %d s%n", stream.served.sum() - before, seconds);
    }
  }
}
