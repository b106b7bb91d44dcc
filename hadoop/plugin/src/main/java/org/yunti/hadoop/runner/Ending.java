package org.yunti.hadoop.runner;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.runner.job.JobRun;

/**
 * End of the program while jobs run. On a cluster they would go on: a program that submits a job and exits waits for it
 * here. After ctrl-C and other signals, jobs are killed, and their committers abort them.
 */
final class Ending {
  private static final Logger LOG = LoggerFactory.getLogger(Ending.class);
  /** Before Hadoop closes its file systems, which has priority 10. */
  private static final int PRIORITY = 30;
  private static final int WAIT_DAYS = 365;
  private static final long KILL_MS_MAX = 8000;
  /** Number that a shell adds to a signal's for the exit code. */
  private static final int SIGNALS = 128;

  private static boolean installed;
  private static volatile boolean signalled;

  private Ending() {}

  /** Takes over signals and the end of this JVM; once. */
  static synchronized void install() {
    if (installed) {
      return;
    }
    installed = true;
    ShutdownHookManager.get().addShutdownHook(Ending::end, PRIORITY, WAIT_DAYS, TimeUnit.DAYS);
    for (String signal : new String[] {"INT", "TERM", "HUP"}) {
      handle(signal);
    }
  }

  private static void end() {
    long end_ms = System.currentTimeMillis() + KILL_MS_MAX;
    for (JobRun run : Jobs.all()) {
      if (run.isEnded()) {
        continue;
      }
      if (signalled) {
        run.kill();
      } else {
        LOG.info("the program ends; its job goes on");
      }
    }
    for (JobRun run : Jobs.all()) {
      try {
        while (!run.isOver() && (!signalled || System.currentTimeMillis() < end_ms)) {
          run.join(100);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Ends the program at a signal. By reflection, because the class of signals is no part of the Java that this code is
   * compiled for.
   */
  private static void handle(String name) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object number = signal.getConstructor(String.class).newInstance(name);
      InvocationHandler calls = (Object proxy, Method method, Object[] arguments) -> {
        if (!method.getName().equals("handle")) {
          return method.getName().equals("equals") ? proxy == arguments[0] : proxy.getClass().hashCode();
        }
        boolean isFirst = !signalled;
        signalled = true;
        int code = SIGNALS + (Integer) signal.getMethod("getNumber").invoke(arguments[0]);
        if (isFirst) {
          // The end may already have begun, and waits for jobs.
          for (JobRun run : Jobs.all()) {
            run.kill();
          }
          new Thread(() -> System.exit(code), "yunti end").start();
        } else {
          Runtime.getRuntime().halt(code);
        }
        return null;
      };
      Object proxy = Proxy.newProxyInstance(Ending.class.getClassLoader(), new Class<?>[] {handler}, calls);
      signal.getMethod("handle", signal, handler).invoke(null, number, proxy);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      LOG.debug("cannot handle the signal {}", name, e);
    }
  }
}
