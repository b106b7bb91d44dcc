import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Holds too many buffers: the pool grew in a rush hour and never gives buffers back. */
public final class BufferPool {
  private static final int SIZE = 64 * 1024;
  private static BufferPool shared;

  private final Deque<byte[]> free = new ArrayDeque<>();
  private final List<ByteBuffer> direct = new ArrayList<>();

  private synchronized byte[] take() {
    byte[] buffer = free.pollFirst();
    return buffer == null ? new byte[SIZE] : buffer;
  }

  private synchronized void give(byte[] buffer) {
    free.addFirst(buffer);
  }

  private static void rushHour(int connections) {
    List<byte[]> used = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      byte[] buffer = shared.take();
      buffer[i % SIZE] = (byte) (i | 1);
      used.add(buffer);
    }
    used.forEach(shared::give);
  }

  public static void main(String[] args) throws Exception {
    shared = new BufferPool();
    for (int i = 0; i < 32; i++) {
      shared.direct.add(ByteBuffer.allocateDirect(1_000_000));
    }
    rushHour(700);
    System.out.println("ready");
    System.in.read();
  }
}
