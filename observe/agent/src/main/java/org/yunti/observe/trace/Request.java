package org.yunti.observe.trace;

import java.util.ArrayList;
import java.util.List;

/** What the observer wants, as it writes it: lines of a word and its value, the last one empty. */
public final class Request {
  /** Methods, as the user wrote them. */
  public final List<String> methods = new ArrayList<>();
  /** Arguments and results as texts too. */
  public boolean withTexts;
  /** Outermost calls that took less are dropped, with what they called. */
  public long overNanos;
  /** Calls a second that are told at most. */
  public long callsMax = 10_000;
  /** After it the look ends by itself. */
  public long millisMax = 60_000;
  /** Methods that are not there yet may come. */
  public boolean waits;

  static Request parse(String text) {
    Request request = new Request();
    for (String line : text.split("\n")) {
      String value = line.substring(line.indexOf(' ') + 1);
      switch (line.substring(0, Math.max(0, line.indexOf(' ')))) {
        case "method" -> request.methods.add(value);
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
