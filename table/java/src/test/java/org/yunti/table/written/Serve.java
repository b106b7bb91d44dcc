package org.yunti.table.written;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A process of {@code yunti table serve}. */
public final class Serve implements Closeable {
  private static final String LISTENING = "listening on ";

  private final Process process;
  public final List<String> addresses = new ArrayList<>();

  /**
   * Starts one, and waits until it listens.
   *
   * @param words what follows {@code serve}; the addresses are with {@code --listen}
   */
  public Serve(String... words) throws IOException {
    List<String> all = new ArrayList<>(List.of(Command.find().toString(), "serve"));
    all.addAll(List.of(words));
    process = new ProcessBuilder(all).redirectErrorStream(true).start();
    long listens = all.stream().filter("--listen"::equals).count();
    // The stream stays open: it is the process's.
    BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    StringBuilder seen = new StringBuilder();
    while (addresses.size() < listens) {
      String line = output.readLine();
      if (line == null) {
        throw new AssertionError(all + ": " + seen);
      }
      seen.append(line).append('\n');
      if (line.startsWith(LISTENING)) {
        addresses.add(line.substring(LISTENING.length()));
      }
    }
  }

  public String address() {
    return addresses.get(0);
  }

  /** Kills it, as the kernel does. */
  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
