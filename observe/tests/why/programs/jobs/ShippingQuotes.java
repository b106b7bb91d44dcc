import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** Quotes shipping: requests the carrier's rate, then packs the order. SECONDS CARRIER_PORT [--cured=hot-method] */
public final class ShippingQuotes {
  private static final int WORKERS = 2;
  private static final int ITEMS = 300;
  private static final int PARCEL_GRAMS = 5000;

  private final LongAdder quoted = new LongAdder();
  private final int carrierPort;
  private final int ordersTried;

  ShippingQuotes(int carrierPort, int ordersTried) {
    this.carrierPort = carrierPort;
    this.ordersTried = ordersTried;
  }

  private static int[] items(SplittableRandom random) {
    int[] grams = new int[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
      grams[i] = 50 + random.nextInt(2500);
    }
    return grams;
  }

  private static void shuffle(int[] grams, SplittableRandom random) {
    for (int i = grams.length - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int held = grams[i];
      grams[i] = grams[j];
      grams[j] = held;
    }
  }

  private static int parcels(int[] grams) {
    int[] rooms = new int[grams.length];
    int used = 0;
    for (int item : grams) {
      int parcel = 0;
      while (parcel < used && rooms[parcel] < item) {
        parcel++;
      }
      if (parcel == used) {
        rooms[used++] = PARCEL_GRAMS;
      }
      rooms[parcel] -= item;
    }
    return used;
  }

  private int fewestParcels(int[] grams, SplittableRandom random) {
    Arrays.sort(grams);
    int fewest = parcels(grams);
    for (int i = 0; i < ordersTried; i++) {
      shuffle(grams, random);
      fewest = Math.min(fewest, parcels(grams));
    }
    return fewest;
  }

  private void run(int worker) {
    SplittableRandom random = new SplittableRandom(worker);
    try (Socket carrier = new Socket(InetAddress.getLoopbackAddress(), carrierPort)) {
      carrier.setTcpNoDelay(true);
      BufferedReader in = new BufferedReader(new InputStreamReader(carrier.getInputStream(),
          StandardCharsets.US_ASCII));
      OutputStream out = carrier.getOutputStream();
      while (true) {
        out.write(("RATE " + random.nextInt(10_000) + '\n').getBytes(StandardCharsets.US_ASCII));
        long rate = Long.parseLong(in.readLine().substring(3));
        if (rate * fewestParcels(items(random), random) > 0) {
          quoted.increment();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    ShippingQuotes job = new ShippingQuotes(Integer.parseInt(args[1]),
        List.of(args).contains("--cured=hot-method") ? 0 : 3600);
    for (int i = 1; i <= WORKERS; i++) {
      int worker = i;
      Thread thread = new Thread(() -> job.run(worker), "quotes-" + worker);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(2000);
    System.out.println("ready");
    long before = job.quoted.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", job.quoted.sum() - before, seconds);
  }
}
