package org.yunti.messages.trial;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.yunti.messages.text.Json;
import org.yunti.messages.trial.codec.Codec;

/**
 * Tries one library on the captured messages, in a JVM of its own: {@code FILE CODEC LIBRARY|- MILLIS GROUPS}. With a
 * LIBRARY, the codec is the one of the service, and only this library's groups are tried.
 *
 * <p>It prints one line of JSON. If standard input ends, the observer is gone, and the trial ends.
 */
public final class Trial {
  private static final int REASON_MAX = 200;
  /** Share of bytes by which the service may differ before a note says so. */
  private static final double BYTES_APART = 0.05;

  private Trial() {}

  public static void main(String[] words) throws Exception {
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    // Libraries may print.
    System.setOut(System.err);
    Path file = Path.of(words[0]);
    watchObserver();
    Messages messages = Messages.read(file, Integer.parseInt(words[4]));
    String only = words[2].equals("-") ? null : words[2];
    Map<String, Object> result = new LinkedHashMap<>();
    Set<String> libraries = new LinkedHashSet<>();
    List<Object> groups = new ArrayList<>();
    for (Messages.Group group : messages.groups) {
      libraries.add(group.library);
      Map<String, Object> facts = new LinkedHashMap<>();
      facts.put("library", group.library);
      facts.put("type", group.type);
      facts.put("written", group.written);
      facts.put("read", group.read);
      facts.put("calls_written", group.callsWritten);
      facts.put("calls_read", group.callsRead);
      facts.put("bytes", Double.isNaN(group.meanBytes()) ? null : group.meanBytes());
      groups.add(facts);
    }
    List<Object> alternatives = new ArrayList<>();
    for (String library : libraries) {
      if (only == null || only.equals(library)) {
        alternatives.add(alternative(words[1], library, only != null, messages.groups, Long.parseLong(words[3])));
      }
    }
    result.put("captured", messages.count);
    result.put("groups", groups);
    result.put("gaps", new ArrayList<>(messages.gaps));
    result.put("alternatives", alternatives);
    out.println(Json.of(result));
    out.flush();
    // Threads of libraries must not hold the JVM.
    Runtime.getRuntime().halt(0);
  }

  private static void watchObserver() {
    Thread thread = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {
          // Nothing is sent.
        }
      } catch (IOException e) {
        // The same as its end.
      }
      Runtime.getRuntime().halt(1);
    });
    thread.setDaemon(true);
    thread.start();
  }

  private static Map<String, Object> alternative(String name, String library, boolean isBaseline,
      List<Messages.Group> groups, long millis) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("library", library);
    map.put("name", name);
    map.put("version", "");
    map.put("is_baseline", isBaseline);
    map.put("is_json", false);
    map.put("is_estimate", false);
    List<Object> results = new ArrayList<>();
    map.put("results", results);
    for (Messages.Group group : groups) {
      if (group.library.equals(library)) {
        results.add(result(name, isBaseline, group, millis, map));
      }
    }
    return map;
  }

  private static Map<String, Object> result(String name, boolean isBaseline, Messages.Group group, long millis,
      Map<String, Object> about) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("type", group.type);
    try {
      if (group.objects.isEmpty()) {
        throw new Check.Refusal(group.refusal);
      }
      Check check = new Check(group);
      Codec codec = Codecs.of(name, check.shape);
      about.put("version", Codecs.version(codec.library()));
      about.put("is_json", codec.isJson());
      about.put("is_estimate", codec.isEstimate());
      prepare(codec, check);
      List<byte[]> bytes = check.tryOut(codec);
      time(codec, check, bytes, millis, map);
      map.put("note", isBaseline ? note(check, group) : null);
    } catch (Check.Refusal e) {
      map.put("refused", e.getMessage());
    } catch (Exception | LinkageError | StackOverflowError e) {
      map.put("refused", reason(e));
    }
    return map;
  }

  private static void prepare(Codec codec, Check check) throws Check.Refusal {
    try {
      codec.prepare(check.type, check.messages);
    } catch (Exception | LinkageError | StackOverflowError e) {
      throw new Check.Refusal("cannot be set up for this class: " + reason(e));
    }
  }

  private static void time(Codec codec, Check check, List<byte[]> bytes, long millis, Map<String, Object> into)
      throws Exception {
    List<Object> messages = check.messages;
    Stopwatch.Operation write = i -> codec.write(messages.get(i));
    Stopwatch.Operation read = i -> codec.read(bytes.get(i));
    boolean isRead = check.isRead(codec);
    Stopwatch.warmUp(write, messages.size(), millis);
    if (isRead) {
      Stopwatch.warmUp(read, messages.size(), millis);
    }
    into.put("write", Stopwatch.time(write, messages.size(), millis));
    into.put("read", isRead ? Stopwatch.time(read, messages.size(), millis) : null);
    into.put("bytes", bytes.stream().mapToInt(b -> b.length).average().orElse(0));
  }

  private static String note(Check check, Messages.Group group) {
    if (check.unreadable != null) {
      return "cannot be read again: " + check.unreadable;
    }
    double here = check.meanBytes();
    double there = group.meanBytes();
    return Math.abs(here - there) > BYTES_APART * there
        ? "its settings differ from the service's: " + Math.round(here) + " bytes here, " + Math.round(there) + " there"
        : null;
  }

  /** Returns the first line of an error's deepest cause. */
  static String reason(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    String text = cause.getMessage() == null ? "" : ": " + cause.getMessage().lines().findFirst().orElse("");
    text = cause.getClass().getSimpleName() + text;
    return text.length() > REASON_MAX ? text.substring(0, REASON_MAX) + ".." : text;
  }
}
