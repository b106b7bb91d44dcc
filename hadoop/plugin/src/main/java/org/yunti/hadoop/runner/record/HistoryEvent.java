package org.yunti.hadoop.runner.record;

import java.io.IOException;
import java.io.StringWriter;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.CounterGroup;
import org.apache.hadoop.mapreduce.Counters;
import org.yunti.hadoop.JsonWriter;

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

  private final StringWriter text = new StringWriter();
  private final JsonWriter json = new JsonWriter(text);

  /**
   * Begins an event.
   *
   * @param type symbol of the event
   * @param record name of its fields' record, without the package
   */
  HistoryEvent(String type, String record) throws IOException {
    json.beginObject();
    json.field("type", type);
    json.beginObject("event");
    json.beginObject(PACKAGE + record);
  }

  HistoryEvent put(String name, String value) throws IOException {
    json.field(name, value);
    return this;
  }

  HistoryEvent put(String name, long value) throws IOException {
    json.field(name, value);
    return this;
  }

  HistoryEvent put(String name, boolean value) throws IOException {
    json.field(name, value);
    return this;
  }

  /** Adds a text that may be missing; null is missing. */
  HistoryEvent optional(String name, String value) throws IOException {
    if (value == null) {
      json.field(name, (String) null);
    } else {
      json.beginObject(name);
      json.field("string", value);
      json.end();
    }
    return this;
  }

  /** Adds the empty lists of resource use over time, which Hadoop's own samples fill. */
  HistoryEvent noSamples() throws IOException {
    for (String name : new String[] {"clockSplits", "cpuUsages", "vMemKbytes", "physMemKbytes"}) {
      json.beginArray(name);
      json.end();
    }
    return this;
  }

  HistoryEvent noRights() throws IOException {
    json.beginObject("acls");
    json.end();
    return this;
  }

  HistoryEvent put(String name, String counters, Counters values) throws IOException {
    json.beginObject(name);
    write(counters, values);
    json.end();
    return this;
  }

  /** Adds counters whose field may be missing. */
  HistoryEvent optional(String name, String counters, Counters values) throws IOException {
    json.beginObject(name);
    put(PACKAGE + "JhCounters", counters, values);
    json.end();
    return this;
  }

  private void write(String name, Counters counters) throws IOException {
    json.field("name", name);
    json.beginArray("groups");
    for (CounterGroup group : counters) {
      json.beginObject();
      json.field("name", group.getName());
      json.field("displayName", group.getDisplayName());
      json.beginArray("counts");
      for (Counter counter : group) {
        json.beginObject();
        json.field("name", counter.getName());
        json.field("displayName", counter.getDisplayName());
        json.field("value", counter.getValue());
        json.end();
      }
      json.end();
      json.end();
    }
    json.end();
  }

  /** Returns the line. */
  String line() throws IOException {
    json.end();
    json.end();
    json.end();
    return text + "\n";
  }
}
