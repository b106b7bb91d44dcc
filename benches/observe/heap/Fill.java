import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/** Fills a heap with a map of items, six objects each, and dumps it: Fill OBJECTS FILE. */
public final class Fill {
  record Item(String name, long[] values, Item next) {}

  static final Map<Integer, Item> ITEMS = new HashMap<>();

  public static void main(String[] arguments) throws Exception {
    int items = Integer.parseInt(arguments[0]) / 6;
    Item last = null;
    for (int i = 0; i < items; i++) {
      // Chains of ten: an item that the map and another item hold belongs to the map.
      last = new Item("item " + i, new long[] {i, i}, i % 10 == 0 ? null : last);
      ITEMS.put(1000 + i, last);
    }
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(arguments[1], true);
  }
}
