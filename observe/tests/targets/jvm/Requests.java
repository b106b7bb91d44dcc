import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Handles a number of requests for a cause, both read from its input. Every fiftieth request is slow for that
 * cause.
 */
public final class Requests {
  private static final int SLOW_MILLIS = 40;
  private static final Object MONITOR = new Object();
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static final Semaphore MONITOR_WANTED = new Semaphore(0);
  private static final Semaphore LOCK_WANTED = new Semaphore(0);
  private static final Semaphore TAKEN = new Semaphore(0);
  static volatile long sink;
  static Object[] live;
  private static Socket socket;
  private static RandomAccessFile file;

  static void spin(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() < end) {
      long x = sink;
      for (int i = 0; i < 1_000; i++) {
        x += x * 31 + i;
      }
      sink = x;
    }
  }

  static void fastPath() {
    spin(200_000);
  }

  static void computes() {
    spin(SLOW_MILLIS * 1_000_000L);
  }

  static void waitsForTheMonitor() throws InterruptedException {
    MONITOR_WANTED.release();
    TAKEN.acquire();
    synchronized (MONITOR) {
      sink++;
    }
  }

  static void waitsForTheLock() throws InterruptedException {
    LOCK_WANTED.release();
    TAKEN.acquire();
    LOCK.lock();
    LOCK.unlock();
  }

  static void waitsForAResult() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    Thread thread = new Thread(() -> {
      pause();
      done.countDown();
    });
    thread.start();
    done.await();
  }

  static void sleeps() {
    pause();
  }

  private static void pause() {
    try {
      Thread.sleep(SLOW_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void asksTheServer() throws IOException {
    socket.getOutputStream().write(1);
    socket.getInputStream().read();
  }

  static void syncsTheFile() throws IOException {
    FileChannel channel = file.getChannel();
    long end = System.nanoTime() + SLOW_MILLIS * 1_000_000L;
    for (int at = 0; System.nanoTime() < end; at = (at + 1) % 64) {
      channel.write(ByteBuffer.allocate(4096), at * 4096L);
      channel.force(true);
    }
  }

  static void touchesFreshPages() throws IOException {
    long end = System.nanoTime() + SLOW_MILLIS * 1_000_000L;
    while (System.nanoTime() < end) {
      MappedByteBuffer fresh = file.getChannel().map(FileChannel.MapMode.PRIVATE, 0, 32 << 20);
      for (int at = 0; at < fresh.capacity(); at += 4096) {
        fresh.put(at, (byte) 1);
      }
    }
  }

  static void collects() {
    long end = System.nanoTime() + SLOW_MILLIS * 1_000_000L;
    while (System.nanoTime() < end) {
      System.gc();
    }
  }

  /** With a busy process on the same processor, each yield waits for one time slice of it. */
  static void givesTheProcessorAway() {
    long end = System.nanoTime() + SLOW_MILLIS * 1_000_000L;
    while (System.nanoTime() < end) {
      Thread.yield();
    }
  }

  static void slowPath(String cause) throws Exception {
    switch (cause) {
      case "cpu" -> computes();
      case "monitor" -> waitsForTheMonitor();
      case "lock" -> waitsForTheLock();
      case "result" -> waitsForAResult();
      case "sleep" -> sleeps();
      case "network" -> asksTheServer();
      case "file" -> syncsTheFile();
      case "pages" -> touchesFreshPages();
      case "gc" -> collects();
      case "queue" -> givesTheProcessorAway();
      default -> throw new IllegalArgumentException(cause);
    }
  }

  static final class Handler {
    static void handle(int number, String cause) throws Exception {
      if (number % 50 == 0) {
        slowPath(cause);
      } else {
        fastPath();
      }
    }
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.start();
  }

  private static void start() throws IOException {
    daemon(() -> {
      while (true) {
        MONITOR_WANTED.acquireUninterruptibly();
        synchronized (MONITOR) {
          TAKEN.release();
          pause();
        }
      }
    });
    daemon(() -> {
      while (true) {
        LOCK_WANTED.acquireUninterruptibly();
        LOCK.lock();
        TAKEN.release();
        pause();
        LOCK.unlock();
      }
    });
    ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
    Socket other = server.accept();
    daemon(() -> {
      try {
        while (other.getInputStream().read() >= 0) {
          pause();
          other.getOutputStream().write(1);
        }
      } catch (IOException e) {
        // The program is ending.
      }
    });
    File place = File.createTempFile("requests", ".bin", new File(System.getProperty("folder", ".")));
    place.deleteOnExit();
    file = new RandomAccessFile(place, "rw");
    file.setLength(64 << 20);
  }

  /** Objects that the garbage collector must walk. */
  private static void fillTheHeap() {
    live = new Object[600_000];
    for (int i = 0; i < live.length; i++) {
      live[i] = new Object[] {i};
    }
  }

  /** Answers over HTTP by the same rule. */
  private static int serve() throws IOException {
    com.sun.net.httpserver.HttpServer server =
        com.sun.net.httpserver.HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newFixedThreadPool(2));
    server.createContext("/", exchange -> {
      try {
        Handler.handle(Integer.parseInt(exchange.getRequestURI().getQuery()), "sleep");
      } catch (Exception e) {
        throw new IOException(e);
      }
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    server.start();
    return server.getAddress().getPort();
  }

  private static void ask(int port, int requests) throws IOException {
    for (int i = 1; i <= requests; i++) {
      try (var in = new URL("http://127.0.0.1:" + port + "/?" + i).openStream()) {
        in.readAllBytes();
      }
    }
  }

  public static void main(String[] args) throws Exception {
    start();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    Handler.handle(1, "");
    System.out.println("ready");
    int port = 0;
    for (String line; (line = in.readLine()) != null; ) {
      String[] words = line.split(" ");
      int requests = Integer.parseInt(words[1]);
      switch (words[0]) {
        case "http" -> ask(port = port == 0 ? serve() : port, requests);
        case "virtual" -> virtual(requests);
        case "threads" -> threads(requests);
        default -> {
          if (words[0].equals("gc") && live == null) {
            fillTheHeap();
          }
          for (int i = 1; i <= requests; i++) {
            Handler.handle(i, words[0]);
          }
        }
      }
      System.out.println("done");
    }
  }

  /** Four threads at once, each with this number of requests. */
  private static void threads(int requests) throws Exception {
    Thread[] threads = new Thread[4];
    for (int n = 0; n < threads.length; n++) {
      threads[n] = new Thread(() -> {
        try {
          for (int i = 1; i <= requests; i++) {
            Handler.handle(i, "result");
          }
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }, "worker-" + n);
      threads[n].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void virtual(int requests) throws Exception {
    var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    CountDownLatch done = new CountDownLatch(requests);
    for (int i = 1; i <= requests; i++) {
      int number = i;
      start.invoke(null, (Runnable) () -> {
        try {
          Handler.handle(number, "sleep");
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
        done.countDown();
      });
    }
    done.await();
  }
}
