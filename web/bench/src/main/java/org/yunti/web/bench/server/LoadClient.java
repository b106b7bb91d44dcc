package org.yunti.web.bench.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Closed-loop load client: each connection requests the search page again as soon as it has the last one, for a given
 * time. Prints pages per second and the server's processor time per page, as JSON.
 */
public final class LoadClient {
  private final int port;
  private final int connections;

  public LoadClient(int port, int connections) {
    this.port = port;
    this.connections = connections;
  }

  /**
   * Result of a run.
   *
   * @param requests pages received
   * @param bytes bytes received
   * @param seconds seconds of wall time
   * @param cpuNanos processor time of the server's process, in ns
   */
  public record LoadResult(long requests, long bytes, double seconds, long cpuNanos) {
    String json() {
      return String.format(Locale.ROOT,
          "{\"requests\": %d, \"bytes\": %d, \"seconds\": %.3f, \"requests_per_s\": %.1f, \"cpu_us\": %.2f}", requests,
          bytes, seconds, requests / seconds, cpuNanos / 1e3 / requests);
    }
  }

  public LoadResult run(double seconds) throws IOException, InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(connections);
    try (Connection control = new Connection(port)) {
      long cpu = Long.parseLong(control.text("/cpu"));
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      List<Future<long[]>> loops = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        loops.add(threads.submit(() -> loop(end)));
      }
      long requests = 0;
      long bytes = 0;
      for (Future<long[]> loop : loops) {
        requests += loop.get()[0];
        bytes += loop.get()[1];
      }
      double wall = (System.nanoTime() - begin) / 1e9;
      return new LoadResult(requests, bytes, wall, Long.parseLong(control.text("/cpu")) - cpu);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  private long[] loop(long end) throws IOException {
    long requests = 0;
    long bytes = 0;
    try (Connection connection = new Connection(port)) {
      while (System.nanoTime() < end) {
        bytes += connection.get("/search");
        requests++;
      }
    }
    return new long[] {requests, bytes};
  }

  /**
   * @param args port, connections, seconds to warm up, seconds to measure
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    LoadClient client = new LoadClient(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
    client.run(Double.parseDouble(args[2]));
    System.out.println(client.run(Double.parseDouble(args[3])).json());
  }
}
