package org.yunti.messages.capture;

import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.lang.instrument.Instrumentation;
import java.net.StandardProtocolFamily;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.yunti.messages.text.Json;

/**
 * One capture in a JVM, from the request until all methods are restored. It runs on the agent's only thread.
 *
 * <pre>
 *   observer -> agent   "COUNT MILLIS REDACT\n"; the capture ends when the socket closes
 *   agent -> observer   "running CLASSES\n", then one of "done COUNT\n" and "error TEXT\n"
 * </pre>
 *
 * The messages go to a file of the observer's folder, a line each. If the observer is gone before the end, the agent
 * removes the folder too.
 */
public final class Session implements Runnable {
  private static final int PULSE_MILLIS = 10;
  /** Milliseconds for threads to leave the agent's code. */
  private static final int LEAVE_MILLIS = 20;
  /** Milliseconds for classes to load that were being loaded at the end. */
  private static final int LOAD_MILLIS = 50;
  /** Bytes of all messages at most. */
  private static final long BYTES_MAX = 64L << 20;

  private final Path folder;
  private final Instrumentation instrumentation;
  private final Closeable loader;
  private final Set<String> sources = new LinkedHashSet<>();
  private long written;

  public Session(Path folder, Instrumentation instrumentation, Closeable loader) {
    this.folder = folder;
    this.instrumentation = instrumentation;
    this.loader = loader;
  }

  @Override
  public void run() {
    try (loader; SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      socket.connect(UnixDomainSocketAddress.of(folder.resolve("socket")));
      String end;
      try {
        end = capture(socket, request(socket));
      } catch (Throwable e) {
        end = "error " + e;
      }
      try {
        if (end != null) {
          send(socket, end);
          return;
        }
      } catch (IOException e) {
        // The observer is gone.
      }
      remove();
    } catch (Throwable e) {
      // The observer is gone, so nobody gets the error.
    }
  }

  private static String[] request(SocketChannel socket) throws IOException {
    ByteBuffer in = ByteBuffer.allocate(256);
    while (in.hasRemaining() && socket.read(in) > 0) {
      String text = new String(in.array(), 0, in.position(), StandardCharsets.US_ASCII);
      if (text.endsWith("\n")) {
        return text.trim().split(" ");
      }
    }
    throw new IOException("no request");
  }

  private static void send(SocketChannel socket, String line) throws IOException {
    socket.configureBlocking(true);
    ByteBuffer bytes = ByteBuffer.wrap((line.replace('\n', ' ') + "\n").getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      socket.write(bytes);
    }
  }

  /** Returns the last line for the observer; null if the observer is gone. */
  private String capture(SocketChannel socket, String[] request) throws Exception {
    int count = Integer.parseInt(request[0]);
    long millis = Long.parseLong(request[1]);
    Redactor redactor = request[2].equals("true") ? new Redactor(new SecureRandom()) : null;
    Captures captures = new Captures(instrumentation, redactor, count, millis * 1_000_000);
    captures.warmUp();
    Hook hook = Hook.in(instrumentation);
    if (!hook.acquire(captures)) {
      return "error another capture is running in this JVM";
    }
    Rewriter rewriter = new Rewriter(instrumentation);
    boolean isGone = false;
    int messages = 0;
    var owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    Path file = Files.createFile(folder.resolve("messages.jsonl"), owner);
    try (Writer out = Files.newBufferedWriter(file)) {
      try {
        int classes = rewriter.begin();
        send(socket, "running " + classes);
        long end = System.nanoTime() + millis * 1_000_000;
        socket.configureBlocking(false);
        while (!isGone && System.nanoTime() < end && !captures.isComplete() && written < BYTES_MAX) {
          messages += write(out, captures, redactor);
          Thread.sleep(PULSE_MILLIS);
          isGone = isGone(socket);
        }
      } finally {
        hook.release();
        rewriter.end(LOAD_MILLIS);
      }
      Thread.sleep(LEAVE_MILLIS);
      messages += write(out, captures, redactor);
      out.write(Json.of(facts(captures, rewriter)) + "\n");
    }
    return isGone ? null : "done " + messages;
  }

  private static boolean isGone(SocketChannel socket) {
    try {
      return socket.read(ByteBuffer.allocate(16)) != 0;
    } catch (IOException e) {
      return true;
    }
  }

  private int write(Writer out, Captures captures, Redactor redactor) throws IOException {
    List<Captures.Message> all = captures.take();
    for (Captures.Message each : all) {
      Targets.Target target = Targets.ALL.get(each.target());
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("library", target.library());
      line.put("direction", target.isWrite() ? "write" : "read");
      line.put("is_first", each.isFirst());
      line.put("type", each.type());
      line.put("bytes", each.bytes() < 0 ? null : each.bytes());
      line.put("gaps", new ArrayList<>(each.gaps()));
      line.put("refusal", each.refusal());
      line.put("message", each.tree());
      String text = redactor == null ? Json.of(line) : Json.of(line, redactor::text);
      out.write(text);
      out.write('\n');
      written += text.length();
    }
    out.flush();
    return all.size();
  }

  /** Returns the last line of the file: what a trial needs to know about this JVM. */
  private Map<String, Object> facts(Captures captures, Rewriter rewriter) {
    Map<String, Object> calls = new LinkedHashMap<>();
    for (int i = 0; i < Targets.ALL.size(); i++) {
      Targets.Target target = Targets.ALL.get(i);
      String name = target.library() + " " + (target.isWrite() ? "write" : "read");
      calls.merge(name, captures.calls(i), (a, b) -> (Long) a + (Long) b);
    }
    // Folders and jars of class loaders other than the first: those of servers and of fat jars.
    Set<ClassLoader> loaders = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Class<?> type : instrumentation.getAllLoadedClasses()) {
      if (type.getClassLoader() instanceof URLClassLoader urls && urls != loader && loaders.add(urls)) {
        for (URL url : urls.getURLs()) {
          sources.add(url.toString());
        }
      }
    }
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("calls", calls);
    facts.put("class_path", System.getProperty("java.class.path"));
    facts.put("folder", System.getProperty("user.dir"));
    facts.put("sources", new ArrayList<>(sources));
    facts.put("refused", new ArrayList<>(rewriter.refused()));
    return facts;
  }

  /** Removes the observer's folder, which has no folders below it. */
  private void remove() throws IOException {
    try (var files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(folder);
  }
}
