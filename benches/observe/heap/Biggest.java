import java.io.File;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.Instance;

/** The object that holds most, by VisualVM's library: its class, its address and the bytes that it holds. */
public final class Biggest {
  public static void main(String[] arguments) throws Exception {
    Heap heap = HeapFactory.createHeap(new File(arguments[0]));
    for (Object found : heap.getBiggestObjectsByRetainedSize(1)) {
      Instance instance = (Instance) found;
      System.out.println(
          instance.getJavaClass().getName() + " " + Long.toHexString(instance.getInstanceId()) + " " + instance.getRetainedSize());
    }
  }
}
