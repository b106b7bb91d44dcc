package org.yunti.messages;

import java.io.Closeable;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * Entry point of the agent. The JVM adds this class to the target's class path, where it stays, so it is small. The
 * rest lives in a class loader of its own, which is dropped at the end of the capture.
 */
public final class Agent {
  private Agent() {}

  /**
   * Starts a capture on a thread of its own.
   *
   * @param options {@code FOLDER|JAR}: the folder with the observer's socket, and this jar
   */
  public static void agentmain(String options, Instrumentation instrumentation) throws Exception {
    int at = options.indexOf('|');
    URL jar = Path.of(options.substring(at + 1)).toUri().toURL();
    URLClassLoader loader = new URLClassLoader("yunti-messages", new URL[] {jar}, ClassLoader.getPlatformClassLoader());
    Runnable session = (Runnable) loader.loadClass("org.yunti.messages.capture.Session")
        .getConstructor(Path.class, Instrumentation.class, Closeable.class)
        .newInstance(Path.of(options.substring(0, at)), instrumentation, loader);
    Thread thread = new Thread(session, "yunti-messages");
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    thread.start();
  }
}
