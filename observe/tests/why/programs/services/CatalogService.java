import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.text.NumberFormat;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/** A catalogue: answers a product's number with its offers, written out for people. CatalogService SECONDS [--cured] */
public final class CatalogService {
  record Offer(String seller, long cents, long untilMillis) {}

  record Product(long number, String title, List<Offer> offers) {}

  /** Writes a product as a line of text. */
  static final class ProductWriter {
    private final NumberFormat money = NumberFormat.getCurrencyInstance(Locale.GERMANY);
    private final SimpleDateFormat day = new SimpleDateFormat("EEEE, d MMMM yyyy", Locale.GERMANY);

    synchronized String write(Product product) {
      StringBuilder line = new StringBuilder(4096);
      line.append(product.title());
      for (Offer offer : product.offers()) {
        line.append("; ").append(offer.seller()).append(' ');
        line.append(money.format(offer.cents() / 100.0)).append(" until ");
        line.append(day.format(new Date(offer.untilMillis())));
      }
      return line.append('\n').toString();
    }
  }

  private static final int OFFERS = 60;
  private final LongAdder served = new LongAdder();
  private final ProductWriter writer = new ProductWriter();
  private final boolean writerEach;

  CatalogService(boolean writerEach) {
    this.writerEach = writerEach;
  }

  private static Product find(long number) {
    List<Offer> offers = new ArrayList<>(OFFERS);
    for (int i = 0; i < OFFERS; i++) {
      long mixed = (number * OFFERS + i) * 0x9E3779B97F4A7C15L;
      offers.add(new Offer("Seller " + (mixed >>> 52), (mixed >>> 40) & 0xFFFFF, 1_700_000_000_000L + (mixed >>> 28)));
    }
    return new Product(number, "Product " + number, offers);
  }

  private void serve(Socket client) {
    ProductWriter own = writerEach ? new ProductWriter() : writer;
    try (client) {
      client.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
      OutputStream out = client.getOutputStream();
      for (String line; (line = in.readLine()) != null; ) {
        Product product = find(Long.parseLong(line.substring(4)));
        out.write(own.write(product).getBytes(StandardCharsets.UTF_8));
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
        Thread thread = new Thread(() -> serve(client), "catalog-request-" + i);
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    CatalogService service = new CatalogService(List.of(args).contains("--cured"));
    try (ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress())) {
      System.out.println("listening " + server.getLocalPort());
      Thread acceptor = new Thread(() -> service.accept(server), "catalog-acceptor");
      acceptor.setDaemon(true);
      acceptor.start();
      Thread.sleep(2000);
      System.out.println("ready");
      long before = service.served.sum();
      Thread.sleep(seconds * 1000L);
      System.out.printf("operations %d in %d s%n", service.served.sum() - before, seconds);
    }
  }
}
