import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** Keeps totals of sales and exports tables of them to partners. ReportService SECONDS [--cured] */
public final class ReportService {
  record Sale(String region, String article, long cents, int count) {}

  record Row(String key, String region, String article, String amount) {}

  private static final int ROWS = 30_000;
  private static final int PAGE = 500;
  private static final String[] REGIONS = {"north", "south", "east", "west", "centre", "coast"};

  private final LongAdder served = new LongAdder();
  private final boolean byPage;

  ReportService(boolean byPage) {
    this.byPage = byPage;
  }

  private static List<Row> rows(long export, int from, int count) {
    List<Row> rows = new ArrayList<>(count);
    for (int i = from; i < from + count; i++) {
      String region = REGIONS[i % REGIONS.length];
      rows.add(new Row("E" + export + "-" + i, region, "article " + (i * 31L + export) % 9973,
          (i * 17 % 100_000) / 100.0 + " EUR"));
    }
    return rows;
  }

  private static void send(List<Row> rows, OutputStream out) throws IOException {
    for (Row row : rows) {
      out.write((row.key() + ';' + row.amount() + '\n').getBytes(StandardCharsets.US_ASCII));
    }
  }

  private void export(Socket partner, long number) {
    try (partner) {
      partner.getInputStream().read();
      OutputStream out = new BufferedOutputStream(partner.getOutputStream());
      if (byPage) {
        for (int from = 0; from < ROWS; from += PAGE) {
          send(rows(number, from, PAGE), out);
        }
      } else {
        send(rows(number, 0, ROWS), out);
      }
      out.flush();
      served.increment();
    } catch (IOException e) {
      // The partner went away.
    }
  }

  private static List<Sale> receive(SplittableRandom random) {
    List<Sale> sales = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String article = "article " + random.nextInt(400);
      sales.add(new Sale(REGIONS[random.nextInt(REGIONS.length)], article, random.nextInt(10_000),
          1 + random.nextInt(5)));
    }
    return sales;
  }

  private static Map<String, Long> totals(List<Sale> sales) {
    Map<String, Long> totals = new HashMap<>();
    for (Sale sale : sales) {
      totals.merge(sale.region() + '/' + sale.article(), sale.cents() * sale.count(), Long::sum);
    }
    return totals;
  }

  private void book(int worker) {
    SplittableRandom random = new SplittableRandom(worker);
    while (true) {
      if (!totals(receive(random)).isEmpty()) {
        served.increment();
      }
    }
  }

  private void accept(ServerSocket server) {
    for (long i = 1; ; i++) {
      long number = i;
      try {
        Socket partner = server.accept();
        partner.setSendBufferSize(16 << 10);
        start(() -> export(partner, number), "export-" + number);
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
    ReportService service = new ReportService(List.of(args).contains("--cured"));
    try (ServerSocket server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress())) {
      System.out.println("listening " + server.getLocalPort());
      start(() -> service.accept(server), "acceptor");
      for (int i = 1; i <= 2; i++) {
        int worker = i;
        start(() -> service.book(worker), "booking-" + worker);
      }
      Thread.sleep(2500);
      System.out.println("ready");
      long before = service.served.sum();
      Thread.sleep(seconds * 1000L);
      System.out.printf("operations %d in %d s%n", service.served.sum() - before, seconds);
    }
  }
}
