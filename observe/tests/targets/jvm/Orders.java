import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Answers each byte of a connection with a byte, after known work: one part parses, three parts price, four parts save.
 * Prints its port. Orders PERCENT makes the price cost PERCENT more.
 */
public final class Orders {
  private static final int PART = 100_000;
  static volatile long sink;
  static volatile Object kept;

  // A loop for each: a common one would be one method that has all cost, or none, as the compiler inlines it.

  static void parses() {
    long x = sink;
    for (int i = 0; i < PART; i++) {
      x += x * 31 + i;
    }
    sink = x;
  }

  static void prices(int percent) {
    long x = sink;
    for (int i = 0; i < 3 * PART + 3 * PART / 100 * percent; i++) {
      x += x * 31 + i;
    }
    sink = x;
  }

  static void saves() {
    kept = new byte[4_000];
    long x = sink;
    for (int i = 0; i < 4 * PART; i++) {
      x += x * 31 + i;
    }
    sink = x;
  }

  static void serve(Socket socket, int percent) {
    try (socket) {
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      while (in.read() >= 0) {
        parses();
        prices(percent);
        saves();
        out.write('.');
      }
    } catch (IOException e) {
      // The client has gone.
    }
  }

  public static void main(String[] arguments) throws IOException {
    int percent = Integer.parseInt(arguments[0]);
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    System.out.println("ready");
    System.out.println(server.getLocalPort());
    System.out.flush();
    while (true) {
      Socket socket = server.accept();
      socket.setTcpNoDelay(true);
      new Thread(() -> serve(socket, percent)).start();
    }
  }
}
