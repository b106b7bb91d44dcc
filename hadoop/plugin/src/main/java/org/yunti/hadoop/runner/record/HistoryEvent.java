package org.yunti.hadoop.runner.record;

import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.CounterGroup;
import org.apache.hadoop.mapreduce.Counters;

/**
 * One line of a history file: an event as JSON, encoded as Avro's specification says. A value of a union is an object
 * with the name of its type.
 *
 * <pre>
 *   {"type":"TASK_STARTED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskStarted":{"taskid":"task_..", ..}}}
 * </pre>
 */
final class HistoryEvent {
  private static final String PACKAGE = "org.apache.hadoop.mapreduce.jobhistory.";

  private final StringBuilder text = new StringBuilder(512);

  /**
   * Begins an event.
   *
   * @param type symbol of the event
   * @param record name of its fields' record, without the package
   */
  HistoryEvent(String type, String record) {
    text.append("{\"type\":\"").append(type).append("\",\"event\":{\"").append(PACKAGE).append(record).append("\":{");
  }

  HistoryEvent put(String name, String value) {
    name(name);
    quote(text, value);
    return this;
  }

  HistoryEvent put(String name, long value) {
    name(name);
    text.append(value);
    return this;
  }

  HistoryEvent put(String name, boolean value) {
    name(name);
    text.append(value);
    return this;
  }

  /** Adds a text that may be missing; null is missing. */
  HistoryEvent optional(String name, String value) {
    name(name);
    if (value == null) {
      text.append("null");
    } else {
      text.append("{\"string\":");
      quote(text, value);
      text.append('}');
    }
    return this;
  }

  /** Adds the empty lists of resource use over time, which Hadoop's own samples fill. */
  HistoryEvent noSamples() {
    for (String name : new String[] {"clockSplits", "cpuUsages", "vMemKbytes", "physMemKbytes"}) {
      name(name);
      text.append("[]");
    }
    return this;
  }

  HistoryEvent noRights() {
    name("acls");
    text.append("{}");
    return this;
  }

  HistoryEvent put(String name, String counters, Counters values) {
    name(name);
    append(counters, values);
    return this;
  }

  /** Adds counters whose field may be missing. */
  HistoryEvent optional(String name, String counters, Counters values) {
    name(name);
    text.append("{\"").append(PACKAGE).append("JhCounters\":");
    append(counters, values);
    text.append('}');
    return this;
  }

  private void append(String name, Counters counters) {
    text.append("{\"name\":\"").append(name).append("\",\"groups\":[");
    String comma = "";
    for (CounterGroup group : counters) {
      text.append(comma).append("{\"name\":");
      quote(text, group.getName());
      text.append(",\"displayName\":");
      quote(text, group.getDisplayName());
      text.append(",\"counts\":[");
      comma = "";
      for (Counter counter : group) {
        text.append(comma).append("{\"name\":");
        quote(text, counter.getName());
        text.append(",\"displayName\":");
        quote(text, counter.getDisplayName());
        text.append(",\"value\":").append(counter.getValue()).append('}');
        comma = ",";
      }
      text.append("]}");
      comma = ",";
    }
    text.append("]}");
  }

  private void name(String name) {
    if (text.charAt(text.length() - 1) != '{') {
      text.append(',');
    }
    text.append('"').append(name).append("\":");
  }

  /** Appends a string as JSON has it. */
  static void quote(StringBuilder to, String value) {
    to.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        to.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        to.append(String.format("\\u%04x", (int) c));
      } else {
        to.append(c);
      }
    }
    to.append('"');
  }

  /** Returns the line. */
  String line() {
    return text + "}}}\n";
  }
}
