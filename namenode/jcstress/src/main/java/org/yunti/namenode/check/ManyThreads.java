package org.yunti.namenode.check;

import java.net.ServerSocket;

/**
 * Runs jcstress tests with more threads than the machine has cores, which jcstress itself skips.
 *
 * <p>jcstress counts cores in Linux' /sys. Without Linux it uses the JVM's count, which
 * {@code -XX:ActiveProcessorCount} sets. It then binds no threads to processors, and threads that wait for each other
 * must yield ({@code -spinStyle THREAD_YIELD}).
 */
public final class ManyThreads {
  private ManyThreads() {}

  public static void main(String[] args) throws Exception {
    // Classes of the JDK that read os.name read it once: they do so here, before the change.
    new ProcessBuilder("true").start().waitFor();
    new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress()).close();
    System.setProperty("os.name", "unknown");
    org.openjdk.jcstress.Main.main(args);
  }
}
