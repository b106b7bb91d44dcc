package org.yunti.hadoop.conformance.suite;

import java.lang.reflect.InvocationTargetException;
import java.security.Permission;

/**
 * Runs the main method of a program that ends with {@code System.exit} without ending this JVM.
 *
 * <p>Half of the jobs in hadoop-mapreduce-examples exit from main. A process for each would cost two seconds a
 * run, and hide the counters. The security manager is the only hook for it in JDK 17, which warns once on standard error; it asks nothing else.
 */
@SuppressWarnings("removal")
final class ExitTrap extends SecurityManager {
  private static final class Exit extends SecurityException {
    private final int status;

    Exit(int status) {
      super("exit " + status);
      this.status = status;
    }
  }

  private ExitTrap() {}

  @Override
  public void checkExit(int status) {
    throw new Exit(status);
  }

  @Override
  public void checkPermission(Permission permission) {
    // Everything but the exit is allowed.
  }

  @Override
  public void checkPermission(Permission permission, Object context) {
    // As above.
  }

  static int statusOf(Class<?> mainClass, String[] arguments) throws Exception {
    System.setSecurityManager(new ExitTrap());
    try {
      mainClass.getMethod("main", String[].class).invoke(null, (Object) arguments);
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
      System.setSecurityManager(null);
    }
  }
}
