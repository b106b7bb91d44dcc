package org.yunti.hadoop.runner.load;

import java.lang.reflect.Field;
import java.util.Map;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableFactories;
import org.apache.hadoop.util.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Static tables of Hadoop that keep classes of jobs for the life of the JVM. Without their removal, each job would
 * leave its classes in memory.
 */
final class HadoopCaches {
  private static final Logger LOG = LoggerFactory.getLogger(HadoopCaches.class);

  private HadoopCaches() {}

  /** Removes the classes of a loader whose job ended. */
  static void forget(ClassLoader loader) {
    forget(ReflectionUtils.class, "CONSTRUCTOR_CACHE", loader);
    forget(WritableComparator.class, "comparators", loader);
    forget(WritableFactories.class, "CLASS_TO_FACTORY", loader);
  }

  private static void forget(Class<?> owner, String field, ClassLoader loader) {
    try {
      Field table = owner.getDeclaredField(field);
      table.setAccessible(true);
      Map<?, ?> classes = (Map<?, ?>) table.get(null);
      classes.keySet().removeIf(key -> key instanceof Class && ((Class<?>) key).getClassLoader() == loader);
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("{}.{} is not as expected; classes of jobs may stay in memory", owner.getName(), field, e);
    }
  }
}
