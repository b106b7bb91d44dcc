package org.yunti.hadoop.conformance.cpu;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Cost of one case with a variant relative to stock, from alternating runs.
 *
 * <p>Each side is represented by its fastest run: other load on the machine makes a run slower, never faster.
 *
 * @param stock_s and {@code variant_s}: processor seconds of each run
 * @param tasks the counters that the variant's tasks reported
 */
public record CpuFigure(String name, String variant, List<Double> stock_s, List<Double> variant_s, String tasks) {
  /** Largest accepted ratio of variant to stock. */
  public static final double RATIO_MAX = 1.03;

  /** Result of a case. */
  public enum Verdict {
    OK,
    /** Above the limit, but by no more than stock differs from itself. */
    UNCLEAR,
    OVER
  }

  public double ratio() {
    return Collections.min(variant_s) / Collections.min(stock_s);
  }

  /** Returns the ratio of stock to stock: even rounds against odd ones, computed in the same way. */
  public double noise() {
    double even = stock_s.get(0);
    double odd = stock_s.get(1);
    for (int run = 2; run < stock_s.size(); run++) {
      if (run % 2 == 0) {
        even = Math.min(even, stock_s.get(run));
      } else {
        odd = Math.min(odd, stock_s.get(run));
      }
    }
    return Math.abs(even / odd - 1);
  }

  public Verdict verdict() {
    if (ratio() <= RATIO_MAX) {
      return Verdict.OK;
    }
    return ratio() <= RATIO_MAX + noise() ? Verdict.UNCLEAR : Verdict.OVER;
  }

  /** Returns a line for people. */
  public String line() {
    return String.format(Locale.ROOT, "%-7s %-34s %-9s stock %6.3f s  variant %6.3f s  ratio %.3f  stock/stock %.3f  %s",
        verdict(), name, variant, Collections.min(stock_s), Collections.min(variant_s), ratio(), 1 + noise(), tasks);
  }

  /** Returns a JSON object for programs. */
  public String json() {
    return String.format(Locale.ROOT,
        "{\"case\": \"%s\", \"variant\": \"%s\", \"ratio\": %.4f, \"noise\": %.4f, \"verdict\": \"%s\", \"tasks\": \"%s\", "
            + "\"stock_cpu_s\": [%s], \"cpu_s\": [%s]}",
        name, variant, ratio(), noise(), verdict(), tasks.replace("\\", "\\\\").replace("\"", "\\\""), list(stock_s),
        list(variant_s));
  }

  private static String list(List<Double> seconds) {
    return seconds.stream().map(s -> String.format(Locale.ROOT, "%.4f", s)).collect(Collectors.joining(", "));
  }
}
