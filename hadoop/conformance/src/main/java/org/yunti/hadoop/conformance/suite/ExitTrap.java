package org.yunti.hadoop.conformance.suite;

import java.lang.reflect.InvocationTargetException;
import java.security.Permission;

/**
 * Runner of programs that end with {@code System.exit}, without ending this JVM.
 *
 * <p>Half of the jobs in hadoop-mapreduce-examples exit from main. A process for each would take two seconds per run
 * and hide the counters. The security manager is the only hook in JDK 17, which prints one warning on standard error.
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
    // Allows everything except the exit.
  }

  @Override
  public void checkPermission(Permission permission, Object context) {
    // Allows everything.
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
