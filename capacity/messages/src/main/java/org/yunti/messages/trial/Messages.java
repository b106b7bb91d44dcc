package org.yunti.messages.trial;

import java.io.BufferedReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.yunti.messages.text.Json;

/** Captured messages, made again, in groups of one library and one type. */
final class Messages {
  /** Messages of one type that one library wrote or read. */
  static final class Group {
    final String library;
    final String type;
    final List<Object> objects = new ArrayList<>();
    /** Bytes in the service by object; -1 if they were not visible. */
    final List<Long> bytes = new ArrayList<>();
    int written;
    int read;
    /** Messages that are there as the first of their class. */
    int firstWritten;
    int firstRead;
    /** Calls in the service during the capture, sampled or not. */
    long callsWritten;
    long callsRead;
    String refusal;

    Group(String library, String type) {
      this.library = library;
      this.type = type;
    }

    /** Returns the mean bytes of messages in the service; NaN if none were visible. */
    double meanBytes() {
      return bytes.stream().filter(b -> b >= 0).mapToLong(b -> b).average().orElse(Double.NaN);
    }
  }

  final List<Group> groups = new ArrayList<>();
  final Set<String> gaps = new LinkedHashSet<>();
  int count;

  private Messages() {}

  /** Reads a file of the agent. Keeps the groups with the most messages. */
  static Messages read(Path file, int groupsMax) throws IOException {
    Map<String, Group> groups = new LinkedHashMap<>();
    Messages messages = new Messages();
    try (BufferedReader in = Files.newBufferedReader(file)) {
      for (String line; (line = in.readLine()) != null; ) {
        Map<?, ?> parts = (Map<?, ?>) Json.parse(line);
        if (parts.containsKey("library")) {
          messages.add(groups, parts);
        } else {
          weigh(groups.values(), (Map<?, ?>) parts.get("calls"));
        }
      }
    }
    messages.groups.addAll(groups.values());
    messages.groups.sort(Comparator.comparingLong((Group group) -> -group.callsWritten - group.callsRead));
    int count = messages.groups.size();
    List<Group> rest = messages.groups.subList(Math.min(groupsMax, count), count);
    for (Group group : rest) {
      messages.gaps.add(group.type + ": not tried, because other types were read and written more often");
    }
    rest.clear();
    return messages;
  }

  /** Spreads the calls of each library over its types, by the messages that were captured by chance. */
  private static void weigh(Collection<Group> groups, Map<?, ?> calls) {
    for (Group group : groups) {
      double written = 0;
      double read = 0;
      for (Group other : groups) {
        written += other.library.equals(group.library) ? weight(other.written, other.firstWritten) : 0;
        read += other.library.equals(group.library) ? weight(other.read, other.firstRead) : 0;
      }
      group.callsWritten =
          part(calls.get(group.library + " write"), weight(group.written, group.firstWritten), written);
      group.callsRead = part(calls.get(group.library + " read"), weight(group.read, group.firstRead), read);
    }
  }

  /** Returns the messages by chance. A first message alone counts as half of one: its type is rare. */
  private static double weight(int captured, int first) {
    return captured == first ? captured * 0.5 : captured - first;
  }

  private static long part(Object calls, double captured, double all) {
    return all == 0 ? 0 : Math.round(((BigDecimal) calls).doubleValue() * captured / all);
  }

  private void add(Map<String, Group> groups, Map<?, ?> parts) {
    count++;
    String library = (String) parts.get("library");
    String type = (String) parts.get("type");
    Group group = groups.computeIfAbsent(library + ' ' + type, key -> new Group(library, type));
    int first = Boolean.TRUE.equals(parts.get("is_first")) ? 1 : 0;
    if (parts.get("direction").equals("write")) {
      group.written++;
      group.firstWritten += first;
    } else {
      group.read++;
      group.firstRead += first;
    }
    for (Object gap : (List<?>) parts.get("gaps")) {
      gaps.add("left out: " + gap);
    }
    if (parts.get("refusal") != null) {
      group.refusal = "not captured: " + parts.get("refusal");
      return;
    }
    Maker maker = new Maker();
    try {
      group.objects.add(maker.make(parts.get("message")));
      BigDecimal bytes = (BigDecimal) parts.get("bytes");
      group.bytes.add(bytes == null ? -1 : bytes.longValue());
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      group.refusal = "cannot be made again: " + Trial.reason(e);
    }
    gaps.addAll(maker.notes());
  }
}
