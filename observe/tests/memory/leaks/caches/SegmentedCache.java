import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Leaks resolved addresses: a cache of segments that extend a lock, with tables of chained entries,
 * as the well-known libraries have. Its maximum size was set to the largest integer.
 */
public final class SegmentedCache {
  private static final class Entry {
    final String key;
    final int hash;
    final Entry next;
    final SoftReference<byte[]> value;
    Entry previousInAccessQueue;
    Entry nextInAccessQueue;

    Entry(String key, int hash, Entry next, byte[] value, ReferenceQueue<byte[]> collected) {
      this.key = key;
      this.hash = hash;
      this.next = next;
      this.value = new SoftReference<>(value, collected);
    }
  }

  private static final class Segment extends ReentrantLock {
    private static final long serialVersionUID = 1;
    private final transient ReferenceQueue<byte[]> collected = new ReferenceQueue<>();
    private transient AtomicReferenceArray<Entry> table = new AtomicReferenceArray<>(4_096);
    private transient Entry newest;
    private transient int count;

    void put(String key, int hash, byte[] value) {
      lock();
      try {
        int slot = hash >>> 8 & table.length() - 1;
        Entry entry = new Entry(key, hash, table.get(slot), value, collected);
        table.set(slot, entry);
        entry.nextInAccessQueue = newest;
        if (newest != null) {
          newest.previousInAccessQueue = entry;
        }
        newest = entry;
        count++;
      } finally {
        unlock();
      }
    }
  }

  private final Segment[] segments = new Segment[16];

  private void put(String key, byte[] value) {
    int hash = key.hashCode() * 0x9E3779B9;
    segments[hash >>> 28].put(key, hash, value);
  }

  private static final class Resolver {
    final SegmentedCache addresses = new SegmentedCache();
  }

  public static void main(String[] args) throws Exception {
    Resolver resolver = new Resolver();
    for (int i = 0; i < resolver.addresses.segments.length; i++) {
      resolver.addresses.segments[i] = new Segment();
    }
    for (int i = 0; i < 100_000; i++) {
      resolver.addresses.put("host-" + i + ".example.org", new byte[] {10, 1, (byte) i, 7});
    }
    System.out.println("ready");
    System.in.read();
    System.out.println(resolver.addresses.segments[0].count);
  }
}
