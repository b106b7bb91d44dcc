import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Leaks batches: workers wait for a monitor that a thread blocked in native code owns, each with
 * the rows of its batch in local variables, in a field of its thread and deep in a recursion.
 */
public final class StuckWorkers {
  private static final Object DISK = new Object();

  private record Row(int number, String text) {}

  private static final class Worker extends Thread {
    private final Deque<Row> own = new ArrayDeque<>();
    private final CountDownLatch started;

    Worker(int number, CountDownLatch started) {
      super(null, null, "worker-" + number, 0);
      this.started = started;
      setDaemon(true);
    }

    @Override
    public void run() {
      List<Row> batch = new ArrayList<>();
      for (int i = 0; i < 6_000; i++) {
        Row row = new Row(i, getName() + " row " + i);
        (i % 3 == 0 ? own : batch).add(row);
      }
      System.out.println(write(batch, 40));
    }

    private int write(List<Row> rows, int depth) {
      List<Row> half = new ArrayList<>(rows.subList(0, Math.max(1, rows.size() - 20)));
      synchronized (half) {
        if (depth > 0) {
          return write(half, depth - 1) + half.size();
        }
        started.countDown();
        synchronized (DISK) {
          return rows.size();
        }
      }
    }
  }

  public static void main(String[] args) throws Exception {
    CountDownLatch started = new CountDownLatch(12);
    ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Thread owner = new Thread(() -> {
      synchronized (DISK) {
        started.countDown();
        try {
          socket.accept();
        } catch (java.io.IOException e) {
          System.out.println(e);
        }
      }
    }, "disk-owner");
    owner.setDaemon(true);
    owner.start();
    while (started.getCount() == 12) {
      Thread.sleep(1);
    }
    for (int i = 0; i < 11; i++) {
      new Worker(i, started).start();
    }
    started.await();
    System.out.println("ready");
    System.in.read();
  }
}
