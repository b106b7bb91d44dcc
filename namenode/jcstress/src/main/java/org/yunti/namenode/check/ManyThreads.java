package org.yunti.namenode.check;

import java.net.ServerSocket;

/**
 * jcstress, which leaves out tests with more threads than the machine has cores, on a machine that has fewer: it counts cores by Linux' /sys, and where it sees
 * no Linux it believes the JVM, which {@code -XX:ActiveProcessorCount} tells. Threads are bound to no processor then, and must be told to yield where they wait
 * for each other ({@code -spinStyle THREAD_YIELD}).
 */
public final class ManyThreads {
  private ManyThreads() {}

  public static void main(String[] args) throws Exception {
    // What of Java itself asks for the system's name does so once, here.
    new ProcessBuilder("true").start().waitFor();
    new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress()).close();
    System.setProperty("os.name", "unknown");
    org.openjdk.jcstress.Main.main(args);
  }
}
