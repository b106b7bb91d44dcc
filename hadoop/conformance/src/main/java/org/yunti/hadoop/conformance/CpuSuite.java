package org.yunti.hadoop.conformance;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.yunti.hadoop.conformance.cpu.CpuClock;
import org.yunti.hadoop.conformance.cpu.CpuFigure.Verdict;
import org.yunti.hadoop.conformance.cpu.CpuFigure;
import org.yunti.hadoop.conformance.runner.Outcome.JobResult;
import org.yunti.hadoop.conformance.runner.Runner;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Scale;
import org.yunti.hadoop.conformance.trace.Trace;

/**
 * Processor-time measurement: runs each case with stock Hadoop and with the variants, alternating.
 *
 * <pre>
 *   input x1 -> run all -> input x4 .. -> run all, until a job of stock takes long enough -> rounds -> ratio, verdict
 *               (these warm the JVM up)                                                 stock, a, b; b, a, stock; ..
 * </pre>
 *
 * Cases that must fail are skipped: the time until a failure is no measure.
 */
final class CpuSuite {
  /**
   * MB of the sort buffer for cases without one of their own; holds the map output of a scaled case, as 4 MB do at
   * scale 1.
   */
  private static final String SORT_MB = "32";

  private static final int GROWTH_MAX = 6;
  /** Runs before the first case, in which the JVM loads and compiles the code that all jobs share. */
  private static final int WARM_UP = 8;
  /** Repetitions of a case that seems to exceed the ratio. */
  private static final int REPEATS = 2;

  private final Options options;
  private final Runner runner;
  private final PrintStream out;
  private final CpuClock clock = new CpuClock();
  private final List<Variant> sides = new ArrayList<>();
  private final List<CpuFigure> figures = new ArrayList<>();
  private int skipped;
  private int failed;

  /** Failure of a job that should succeed. */
  private static final class SideFailed extends IOException {
    private final boolean isStock;

    SideFailed(Variant side, boolean isStock, String error) {
      super(side.name() + ": " + error);
      this.isStock = isStock;
    }
  }

  CpuSuite(Options options, Runner runner, PrintStream out) {
    this.options = options;
    this.runner = runner;
    this.out = out;
    sides.add(Variant.named("stock"));
    sides.addAll(options.variants());
  }

  /** Returns the settings below those of variants and cases. */
  static Map<String, String> settings() {
    return Map.of(Trace.COUNT, "true", "mapreduce.task.io.sort.mb", SORT_MB);
  }

  /** @return the exit status */
  int run(List<Case> cases) throws Exception {
    if (options.json() != null) {
      new PrintWriter(options.json()).close();
    }
    boolean cold = true;
    for (Case testCase : cases) {
      String obstacle = testCase.mustFailWith() != null ? "must fail" : testCase.obstacle().find(runner.configuration());
      if (obstacle != null) {
        skipped++;
        out.println("skip    " + testCase.name() + ": " + obstacle);
        continue;
      }
      if (cold) {
        warmUp(testCase);
        cold = false;
      }
      try {
        for (CpuFigure figure : measure(testCase)) {
          figures.add(figure);
          out.println(figure.line());
          keep(figure);
        }
      } catch (SideFailed e) {
        failed++;
        out.println("FAIL    " + testCase.name() + ": " + e.getMessage());
      }
      runner.delete(testCase);
    }
    return summary();
  }

  private void warmUp(Case testCase) throws Exception {
    prepare(testCase, 1);
    for (int i = 0; i < WARM_UP; i++) {
      round(testCase, i, null, new LinkedHashMap<>());
    }
  }

  /** Writes a figure at once, so that an interrupted measurement keeps its results. */
  private void keep(CpuFigure figure) throws IOException {
    if (options.json() != null) {
      try (PrintWriter file = new PrintWriter(new FileWriter(options.json(), true))) {
        file.println(figure.json());
      }
    }
  }

  private List<CpuFigure> measure(Case testCase) throws Exception {
    Map<Variant, List<Double>> samples = new LinkedHashMap<>();
    Map<Variant, String> tasks = new LinkedHashMap<>();
    for (Variant side : sides) {
      samples.put(side, new ArrayList<>());
    }
    grow(testCase);
    for (int round = 0; round < options.rounds(); round++) {
      round(testCase, round, samples, tasks);
    }
    List<CpuFigure> found = figures(testCase, samples, tasks);
    for (int more = 0; more < REPEATS * options.rounds() && seemsOver(found); more++) {
      round(testCase, options.rounds() + more, samples, tasks);
      found = figures(testCase, samples, tasks);
    }
    return found;
  }

  private static boolean seemsOver(List<CpuFigure> found) {
    return found.stream().anyMatch(figure -> figure.verdict() != Verdict.OK);
  }

  /** Enlarges the input until a stock job takes the requested time; these runs also warm the JVM up for the case. */
  private void grow(Case testCase) throws Exception {
    int factor = 1;
    double before_s = 0;
    while (true) {
      double stock_s;
      try {
        stock_s = measureStock(testCase, factor);
      } catch (SideFailed e) {
        // Stock Hadoop loses records if a buffer with a spill limit of 100 % fills more than once:
        // shape/spill-at-100-percent.
        if (!e.isStock || factor == 1) {
          throw e;
        }
        prepare(testCase, 1);
        return;
      }
      // More records do not help a case that is all fixed cost or whose files are full.
      boolean stuck = stock_s > options.seconds() / 2 && stock_s < before_s * 1.1;
      if (stock_s >= 0.8 * options.seconds() || factor >= options.scale() || stuck) {
        return;
      }
      before_s = stock_s;
      double wanted = 1.2 * factor * options.seconds() / stock_s;
      factor = (int) Math.min(options.scale(), Math.max(2.0 * factor, Math.min(1.0 * GROWTH_MAX * factor, wanted)));
    }
  }

  /** Runs all sides with an input of this size; returns the processor seconds of stock. */
  private double measureStock(Case testCase, int factor) throws Exception {
    prepare(testCase, factor);
    double stock_s = sample(testCase, sides.get(0), new LinkedHashMap<>());
    for (Variant side : sides.subList(1, sides.size())) {
      sample(testCase, side, new LinkedHashMap<>());
    }
    // The first runs of a case are slower than the following ones.
    return Math.min(stock_s, sample(testCase, sides.get(0), new LinkedHashMap<>()));
  }

  private void prepare(Case testCase, int factor) throws Exception {
    runner.delete(testCase);
    runner.prepare(testCase, new Scale(factor));
  }

  private void round(Case testCase, int round, Map<Variant, List<Double>> samples, Map<Variant, String> tasks)
      throws Exception {
    List<Variant> order = new ArrayList<>(sides);
    if (round % 2 == 1) {
      Collections.reverse(order);
    }
    for (Variant side : order) {
      double taken_s = sample(testCase, side, tasks);
      if (samples != null) {
        samples.get(side).add(taken_s);
      }
    }
  }

  /** Runs once; returns its processor seconds. */
  private double sample(Case testCase, Variant side, Map<Variant, String> tasks) throws Exception {
    runner.deleteOutput(testCase);
    System.gc(); // Keeps the previous run's garbage out of this one.
    Runner.Timed timed = runner.time(testCase, side.overlay(), clock);
    if (timed.error() != null) {
      throw new SideFailed(side, side == sides.get(0), timed.error());
    }
    tasks.put(side, tasksOf(timed.jobs()));
    return timed.taken().work_s();
  }

  /** Returns {@code native}, or the reasons for declining. */
  private static String tasksOf(List<JobResult> jobs) {
    TreeSet<String> reports = new TreeSet<>();
    for (JobResult job : jobs) {
      for (Map.Entry<String, Long> counter : job.counters().entrySet()) {
        if (counter.getKey().startsWith("Yunti:") && !counter.getKey().endsWith("_BYTES") && counter.getValue() > 0) {
          reports.add(counter.getKey().substring("Yunti:".length()));
        }
      }
    }
    return String.join(", ", reports);
  }

  private List<CpuFigure> figures(Case testCase, Map<Variant, List<Double>> samples, Map<Variant, String> tasks) {
    List<CpuFigure> found = new ArrayList<>();
    for (Variant side : sides.subList(1, sides.size())) {
      found.add(new CpuFigure(testCase.name(), side.name(), List.copyOf(samples.get(sides.get(0))),
          List.copyOf(samples.get(side)), tasks.get(side)));
    }
    return found;
  }

  private int summary() {
    for (Variant side : sides.subList(1, sides.size())) {
      List<CpuFigure> ofSide = figures.stream().filter(f -> f.variant().equals(side.name())).toList();
      out.printf(Locale.ROOT, "%s: ratio %s; stock against stock %s%n", side.name(),
          quantiles(ofSide.stream().map(CpuFigure::ratio).toList()),
          quantiles(ofSide.stream().map(f -> 1 + f.noise()).toList()));
    }
    out.println(count(Verdict.OK) + " within " + CpuFigure.RATIO_MAX + ", " + count(Verdict.OVER) + " over, "
        + count(Verdict.UNCLEAR) + " unclear, " + failed + " failed, " + skipped + " skipped");
    return count(Verdict.OVER) + failed == 0 ? 0 : 1;
  }

  private long count(Verdict verdict) {
    return figures.stream().filter(figure -> figure.verdict() == verdict).count();
  }

  private static String quantiles(List<Double> values) {
    if (values.isEmpty()) {
      return "unknown";
    }
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    int last = sorted.size() - 1;
    return String.format(Locale.ROOT, "median %.3f, 9 of 10 up to %.3f, most %.3f", sorted.get(last / 2),
        sorted.get((int) (last * 0.9)), sorted.get(last));
  }
}
