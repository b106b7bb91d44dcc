import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/**
 * Prints the classes of the plug-ins in a NameNode that a test starts, a line each: {@code yunti.lock CLASS},
 * {@code yunti.queue CLASS}, {@code yunti.audit CLASS ..}. It reads private fields, since no public method returns
 * them.
 */
public final class Probe {
  private Probe() {
  }

  public static void main(String[] args) throws Exception {
    try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(new HdfsConfiguration()).numDataNodes(0).build()) {
      Object namesystem = cluster.getNamesystem();
      System.out.println("yunti.lock " + field(namesystem, "fsLock").getClass().getName());
      Object manager = field(field(cluster.getNameNodeRpc(), "clientRpcServer"), "callQueue");
      System.out.println("yunti.queue " + ((AtomicReference<?>) field(manager, "putRef")).get().getClass().getName());
      StringBuilder loggers = new StringBuilder("yunti.audit");
      for (Object logger : (List<?>) field(namesystem, "auditLoggers")) {
        loggers.append(' ').append(logger.getClass().getName());
      }
      System.out.println(loggers);
    }
    System.exit(0);
  }

  private static Object field(Object of, String name) throws ReflectiveOperationException {
    for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          field.setAccessible(true);
          return field.get(of);
        }
      }
    }
    throw new NoSuchFieldException(of.getClass().getName() + " has no field " + name);
  }
}
