import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** Leaks audit events: the writer hangs in its first write, and the queue has no bound. */
public final class AuditQueue {
  private final BlockingQueue<AuditEvent> pending = new LinkedBlockingQueue<>();

  private record AuditEvent(UUID id, String user, String action, long millis) {}

  private final class Writer implements Runnable {
    @Override
    public void run() {
      try {
        AuditEvent first = pending.take();
        while (!Thread.currentThread().isInterrupted()) {
          LockSupport.park(first); // The disk of the log is full, and the driver tries forever.
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    AuditQueue audit = new AuditQueue();
    Thread writer = new Thread(audit.new Writer(), "audit-writer");
    writer.setDaemon(true);
    writer.start();
    for (long i = 0; i < 150_000; i++) {
      audit.pending.add(new AuditEvent(new UUID(i, ~i), "user" + i % 500, "LOGIN " + i, i));
    }
    System.out.println("ready");
    System.in.read();
  }
}
