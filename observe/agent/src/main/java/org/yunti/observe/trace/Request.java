package org.yunti.observe.trace;

import java.util.ArrayList;
import java.util.List;

/** The observer's request. As text, each line is a word and its value, and the last line is empty. */
public final class Request {
  /** Method patterns of the user. */
  public final List<String> methods = new ArrayList<>();
  /** Set to report events at places, not calls: {@link org.yunti.observe.trace.code.PlaceRewriter}. */
  public boolean isOfEvents;
  /** Classes whose monitors are places. */
  public final List<String> monitors = new ArrayList<>();
  /** Set to report arguments and results as text. */
  public boolean withTexts;
  /** Nanoseconds below which outermost calls are dropped, with their callees. */
  public long overNanos;
  /** Calls per second to report at most. */
  public long callsMax = 10_000;
  /** Milliseconds after which the trace ends by itself. */
  public long millisMax = 60_000;
  /** Set if classes with the methods may be loaded later. */
  public boolean waits;

  static Request parse(String text) {
    Request request = new Request();
    for (String line : text.split("\n")) {
      String value = line.substring(line.indexOf(' ') + 1);
      switch (line.substring(0, Math.max(0, line.indexOf(' ')))) {
        case "method" -> request.methods.add(value);
        case "events" -> request.isOfEvents = value.equals("true");
        case "monitors" -> request.monitors.add(value);
        case "texts" -> request.withTexts = value.equals("true");
        case "over" -> request.overNanos = Long.parseLong(value);
        case "calls" -> request.callsMax = Long.parseLong(value);
        case "millis" -> request.millisMax = Long.parseLong(value);
        case "waits" -> request.waits = value.equals("true");
        default -> throw new IllegalArgumentException(line);
      }
    }
    return request;
  }
}
