import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** Notifies shops of their orders, each at the host that the shop registered. NotificationSender SECONDS PORT */
public final class NotificationSender {
  private static final int SHOPS = 100_000;
  private static final int SENDERS = 6;

  private final LongAdder sent = new LongAdder();
  private final int port;

  NotificationSender(int port) {
    this.port = port;
  }

  private void deliver(String host, String message) throws IOException {
    InetAddress address = InetAddress.getByName(host);
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(address, port), 2000);
      socket.getOutputStream().write(message.getBytes(StandardCharsets.US_ASCII));
      BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      if (in.readLine().startsWith("OK")) {
        sent.increment();
      }
    }
  }

  private void run(int number) {
    SplittableRandom orders = new SplittableRandom(number);
    while (true) {
      int shop = orders.nextInt(SHOPS);
      try {
        deliver("shop-" + shop + ".partners.example", "ORDER " + orders.nextInt(1_000_000) + " PAID\n");
      } catch (IOException e) {
        System.err.println("shop " + shop + ": " + e);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 60;
    NotificationSender sender = new NotificationSender(Integer.parseInt(args[1]));
    for (int i = 1; i <= SENDERS; i++) {
      int number = i;
      Thread thread = new Thread(() -> sender.run(number), "sender-" + number);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(1500);
    System.out.println("ready");
    long before = sender.sent.sum();
    Thread.sleep(seconds * 1000L);
    System.out.printf("operations %d in %d s%n", sender.sent.sum() - before, seconds);
  }
}
