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
import org.yunti.hadoop.conformance.cpu.CpuFigure;
import org.yunti.hadoop.conformance.cpu.CpuFigure.Verdict;
import org.yunti.hadoop.conformance.runner.Outcome.JobResult;
import org.yunti.hadoop.conformance.runner.Runner;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Scale;
import org.yunti.hadoop.conformance.suite.Trace;

/**
 * The suite as a measurement: processor time of each case with stock Hadoop and with variants, in turn.
 *
 * <pre>
 *   input x1 -> run all -> input x4 .. -> run all, until a job of stock takes a while -> rounds -> ratio, verdict
 *               (these warm the JVM up)                                                 stock, a, b; b, a, stock; ..
 * </pre>
 *
 * Cases that must fail are left out: what a job does until it fails is no measure.
 */
final class CpuSuite {
  /** The sort buffer of cases that name none: it holds what a map of a scaled case puts out, as 4 MB do at their own size. */
  private static final String SORT_MB = "32";

  private static final int GROWTH_MAX = 6;
  /** Runs before the first case, in which the JVM loads and compiles what all jobs share. */
  private static final int WARM_UP = 8;
  /** So often a case may be tried again that seems to be too dear. */
  private static final int REPEATS = 2;

  private final Options options;
  private final Runner runner;
  private final PrintStream out;
  private final CpuClock clock = new CpuClock();
  private final List<Variant> sides = new ArrayList<>();
  private final List<CpuFigure> figures = new ArrayList<>();
  private int skipped;

  CpuSuite(Options options, Runner runner, PrintStream out) {
    this.options = options;
    this.runner = runner;
    this.out = out;
    sides.add(Variant.named("stock"));
    sides.addAll(options.variants());
  }

  /** What lies below the settings of variants and cases. */
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
      for (CpuFigure figure : measured(testCase)) {
        figures.add(figure);
        out.println(figure.line());
        keep(figure);
      }
      runner.delete(testCase);
    }
    return summary();
  }

  private void warmUp(Case testCase) throws Exception {
    runner.delete(testCase);
    runner.prepare(testCase);
    for (int i = 0; i < WARM_UP; i++) {
      round(testCase, i, null, new LinkedHashMap<>());
    }
  }

  /** At once: a long measurement that is interrupted leaves what it has. */
  private void keep(CpuFigure figure) throws IOException {
    if (options.json() != null) {
      try (PrintWriter file = new PrintWriter(new FileWriter(options.json(), true))) {
        file.println(figure.json());
      }
    }
  }

  private List<CpuFigure> measured(Case testCase) throws Exception {
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

  /** Makes the input larger until a job takes the time that was asked for; that many runs warm the JVM up for this case. */
  private void grow(Case testCase) throws Exception {
    double before_s = 0;
    for (long factor = 1;; ) {
      runner.delete(testCase);
      runner.prepare(testCase, new Scale((int) factor));
      double stock_s = 0;
      for (Variant side : sides) {
        double taken_s = sample(testCase, side, new LinkedHashMap<>());
        stock_s = side == sides.get(0) ? taken_s : stock_s;
      }
      // The first runs of a case are dearer than those that follow.
      stock_s = Math.min(stock_s, sample(testCase, sides.get(0), new LinkedHashMap<>()));
      if (stock_s >= 0.8 * options.seconds() || factor >= options.scale()) {
        return;
      }
      // Half of what is asked for is near enough: it may be fixed cost.
      boolean stuck = factor > 1 && stock_s < before_s * 1.1 && stock_s > options.seconds() / 2;
      if (stuck) {
        return;
      }
      before_s = stock_s;
      double wanted = factor * options.seconds() / stock_s;
      factor = Math.min(options.scale(), Math.max(2 * factor, Math.min(GROWTH_MAX * factor, (long) (1.2 * wanted))));
    }
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

  /** Processor seconds of one run. */
  private double sample(Case testCase, Variant side, Map<Variant, String> tasks) throws Exception {
    runner.deleteOutput(testCase);
    System.gc(); // Garbage of the run before is that run's.
    Runner.Timed timed = runner.time(testCase, side.overlay(), clock);
    if (timed.error() != null) {
      throw new IOException(testCase.name() + ", " + side.name() + ": " + timed.error());
    }
    tasks.put(side, tasksOf(timed.jobs()));
    return timed.taken().work_s();
  }

  /** {@code native}, or the reasons of declines. */
  private static String tasksOf(List<JobResult> jobs) {
    TreeSet<String> said = new TreeSet<>();
    for (JobResult job : jobs) {
      for (Map.Entry<String, Long> counter : job.counters().entrySet()) {
        if (counter.getKey().startsWith("Yunti:") && !counter.getKey().endsWith("_BYTES") && counter.getValue() > 0) {
          said.add(counter.getKey().substring("Yunti:".length()));
        }
      }
    }
    return String.join(", ", said);
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
        + count(Verdict.UNCLEAR) + " unclear, " + skipped + " skipped");
    return count(Verdict.OVER) == 0 ? 0 : 1;
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
