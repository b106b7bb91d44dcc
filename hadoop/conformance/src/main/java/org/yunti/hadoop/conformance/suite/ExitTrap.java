package org.yunti.hadoop.conformance.suite;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import org.yunti.hadoop.conformance.classfile.ConstantPool;

/**
 * Runner of programs that end with {@code System.exit}, without ending this JVM.
 *
 * <p>Half of the jobs in hadoop-mapreduce-examples exit from main. A process for each would take two seconds per run
 * and hide the counters. This class loader loads the program's package again, and its calls of {@code System.exit} call
 * {@link #exit} instead. As the context class loader it also loads the classes that the jobs name. A security manager
 * would need no second copy of the classes, but JDK 24 removed it.
 */
public final class ExitTrap extends ClassLoader {
  private static final ConstantPool.Member SYSTEM_EXIT =
      new ConstantPool.Member("java/lang/System", "exit", "(I)V", false);
  private static final ConstantPool.Member HADOOP_EXIT =
      new ConstantPool.Member("org/apache/hadoop/util/ExitUtil", "terminate", "(I)V", false);
  private static final String OWN = ExitTrap.class.getName().replace('.', '/');

  private static final class Exit extends RuntimeException {
    private final int status;

    Exit(int status) {
      super("exit " + status);
      this.status = status;
    }
  }

  private final String folder;

  private ExitTrap(Class<?> mainClass, ClassLoader parent) {
    super(parent);
    folder = mainClass.getPackage().getName() + ".";
  }

  /** Takes the place of {@code System.exit}. */
  public static void exit(int status) {
    throw new Exit(status);
  }

  /** Takes the place of {@code ExitUtil.terminate}. */
  public static void terminate(int status) {
    exit(status);
  }

  static int statusOf(Class<?> mainClass, String[] arguments) throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    ExitTrap trap = new ExitTrap(mainClass, before);
    thread.setContextClassLoader(trap);
    try {
      Class<?> trapped = trap.loadClass(mainClass.getName());
      trapped.getMethod("main", String[].class).invoke(null, (Object) arguments);
      return 0;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exit exit) {
        return exit.status;
      }
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      return name.startsWith(folder) ? define(name) : super.loadClass(name, resolve);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] trapped = new ConstantPool(in.readAllBytes()).withOwner(SYSTEM_EXIT, OWN);
      byte[] changed = new ConstantPool(trapped).withOwner(HADOOP_EXIT, OWN);
      return defineClass(name, changed, 0, changed.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
