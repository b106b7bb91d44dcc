package org.yunti.observe.trace;

import java.io.Closeable;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * What the JVM puts on the class path of the target, where it stays: so it is small, and all the rest is in a class loader of its own, which is dropped
 * at the end of the look.
 */
public final class Agent {
  private Agent() {}

  /** @param options {@code SOCKET|JAR}: where the observer waits, and this jar */
  public static void agentmain(String options, Instrumentation instrumentation) throws Exception {
    int at = options.indexOf('|');
    URL jar = Path.of(options.substring(at + 1)).toUri().toURL();
    URLClassLoader loader = new URLClassLoader("yunti-trace", new URL[] {jar}, ClassLoader.getPlatformClassLoader());
    Runnable look = (Runnable) loader.loadClass("org.yunti.observe.trace.Look")
        .getConstructor(Path.class, Instrumentation.class, Closeable.class)
        .newInstance(Path.of(options.substring(0, at)), instrumentation, loader);
    Thread thread = new Thread(look, "yunti-trace");
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    thread.start();
  }
}
