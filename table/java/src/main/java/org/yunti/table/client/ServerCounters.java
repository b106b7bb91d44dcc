package org.yunti.table.client;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Counters of one server as they were when {@link TableClient#serverCounters} asked it. */
public final class ServerCounters {
  private final String address;
  private final Map<String, Double> counters;
  private final String error;

  private ServerCounters(String address, Map<String, Double> counters, String error) {
    this.address = address;
    this.counters = Collections.unmodifiableMap(counters);
    this.error = error;
  }

  static ServerCounters failed(String address, String error) {
    return new ServerCounters(address, Collections.<String, Double>emptyMap(), error);
  }

  /** Reads a page for Prometheus: {@code name{labels} value} in a line, and comments that begin with #. */
  static ServerCounters of(String address, String page) {
    Map<String, Double> counters = new LinkedHashMap<>();
    for (String line : page.split("\n")) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      int space = line.lastIndexOf(' ');
      try {
        counters.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
      } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
        return failed(address, "its counters are no page for Prometheus; check that it is a table server of this version");
      }
    }
    return new ServerCounters(address, counters, null);
  }

  public String address() {
    return address;
  }

  /** Returns the counters by the names that the server's page has, with their labels; none if it is away. */
  public Map<String, Double> counters() {
    return counters;
  }

  /** Returns why there are no counters: the server is away, or refuses. Null if there are. */
  public String error() {
    return error;
  }

  @Override
  public String toString() {
    return address + ": " + (error == null ? counters.toString() : error);
  }
}
