package org.yunti.hadoop.conformance.cpu;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What one case costs with a variant, against what it costs with stock, from alternating runs.
 *
 * <p>The least of several runs stands for a side: what else the machine does makes a run dearer, never cheaper.
 *
 * @param stock_s and {@code variant_s}: processor seconds of each run
 * @param tasks what the variant's tasks said of themselves
 */
public record CpuFigure(String name, String variant, List<Double> stock_s, List<Double> variant_s, String tasks) {
  /** More than this is too much. */
  public static final double RATIO_MAX = 1.03;

  /** How a case came out. */
  public enum Verdict {
    OK,
    /** Above, but by no more than stock differs from itself. */
    UNCLEAR,
    OVER
  }

  public double ratio() {
    return Collections.min(variant_s) / Collections.min(stock_s);
  }

  /** Stock against stock: the runs of even rounds against those of odd ones, in the same way. */
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

  /** For people. */
  public String line() {
    return String.format(Locale.ROOT, "%-7s %-34s %-9s stock %6.3f s  variant %6.3f s  ratio %.3f  stock/stock %.3f  %s",
        verdict(), name, variant, Collections.min(stock_s), Collections.min(variant_s), ratio(), 1 + noise(), tasks);
  }

  /** For programs. */
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
