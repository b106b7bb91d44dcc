import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/** Leaks connections: the values of a weak map refer to their keys, so that no key is ever weak. */
public final class StickyMetadata {
  private static final class Connection {
    final String peer;
    final byte[] in = new byte[256];
    final byte[] out = new byte[256];

    Connection(int number) {
      peer = "10.0." + number / 256 + "." + number % 256;
      in[0] = (byte) number;
      out[255] = 1;
    }
  }

  private static final class Metadata {
    final Connection owner;
    final long opened;

    Metadata(Connection owner, long opened) {
      this.owner = owner;
      this.opened = opened;
    }
  }

  private final Map<Connection, Metadata> metadata =
      Collections.synchronizedMap(new WeakHashMap<>());

  private void open(int number) {
    Connection connection = new Connection(number);
    metadata.put(connection, new Metadata(connection, number));
  }

  private static final StickyMetadata NETWORK = new StickyMetadata();

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 30_000; i++) {
      NETWORK.open(i);
    }
    System.out.println("ready");
    System.in.read();
  }
}
