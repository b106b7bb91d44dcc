import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * A known number of native calls from Java: Calls NUMBER [THREADS]. Each tries to create a directory in a missing
 * one.
 */
public final class Calls {
  private static final File NOWHERE = new File("/nonexistent/yunti/directory");
  static volatile long sink;

  static void makes(boolean really) {
    sink++;
    if (really) {
      NOWHERE.mkdir();
    }
  }

  static void works(int number) {
    for (int i = 0; i < number; i++) {
      makes(true);
    }
  }

  static void allocates(int megabytes) {
    for (int i = 0; i < megabytes; i++) {
      byte[] block = new byte[1 << 20];
      sink += block.length;
    }
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    int number = Integer.parseInt(args[0]);
    int threads = args.length > 1 ? Integer.parseInt(args[1]) : 0;
    // Until it is compiled, unless the JVM only interprets.
    for (int i = 0; i < 200_000; i++) {
      makes(false);
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    String said = in.readLine();
    if (said != null && said.startsWith("allocate")) {
      allocates(number);
    } else if (threads == 0) {
      works(number);
    }
    Thread[] all = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      all[i] = new Thread(() -> works(number), "maker-" + i);
      all[i].start();
    }
    for (Thread thread : all) {
      thread.join();
    }
    System.out.println("done");
    while (in.readLine() != null) {
      // Until the input ends.
    }
  }
}
