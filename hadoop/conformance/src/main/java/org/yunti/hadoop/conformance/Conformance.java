package org.yunti.hadoop.conformance;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.VersionInfo;
import org.apache.log4j.FileAppender;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.yunti.hadoop.conformance.cases.AllCases;
import org.yunti.hadoop.conformance.compare.Comparison;
import org.yunti.hadoop.conformance.runner.Outcome;
import org.yunti.hadoop.conformance.runner.Runner;
import org.yunti.hadoop.conformance.runner.Settings;
import org.yunti.hadoop.conformance.suite.Case;

/**
 * Runs every case with stock Hadoop and with each variant, and reports the differences.
 *
 * <pre>
 *   cases -> prepare input -> run stock   -> outcome \
 *                          -> run variant -> outcome  > differences -> one line a variant
 * </pre>
 */
public final class Conformance {
  private final Options options;
  private final PrintStream out;
  private int passed;
  private int failed;
  private int skipped;

  private Conformance(Options options, PrintStream out) {
    this.options = options;
    this.out = out;
  }

  public static void main(String[] arguments) throws Exception {
    int status = run(Arrays.asList(arguments), System.out);
    // Remaining threads of failed tasks must not delay the exit.
    System.exit(status);
  }

  /** @return the exit status */
  static int run(List<String> arguments, PrintStream out) throws Exception {
    if (arguments.contains("--help")) {
      out.print(Options.USAGE);
      return 0;
    }
    Options options;
    try {
      options = Options.parse(arguments);
      options.variants();
    } catch (IllegalArgumentException e) {
      System.err.println("conformance: " + e.getMessage() + " (--help prints the options)");
      return 2;
    }
    return new Conformance(options, out).run();
  }

  private int run() throws Exception {
    String limit = limitOfStock();
    if (limit != null) {
      skip("all", limit);
      return end();
    }
    List<Variant> named = options.variants();
    List<Case> chosen = AllCases.list().stream()
        .filter(c -> options.chooses(c.name()) && (!options.cluster() || c.runsOnCluster()))
        .filter(c -> named.stream().anyMatch(variant -> variant.chooses(c)))
        .filter(c -> options.sweep() || !c.runsOnlyInSweep()).toList();
    if (options.list()) {
      chosen.forEach(c -> out.println(c.name()));
      return 0;
    }
    Map<String, String> settings =
        options.cluster() ? Settings.cluster() : Settings.local(options.work());
    if (options.cpu()) {
      settings.putAll(CpuSuite.settings());
    }
    List<Variant> variants = named;
    if (options.cluster() && options.plugin() != null) {
      String jars = options.plugin() + "," + settings.get(Settings.JARS);
      variants = named.stream().map(variant -> variant.with(Map.of(Settings.JARS, jars), false)).toList();
    }
    logTo(options.cluster() ? null : new File(options.work(), "log"));
    Path work = new Path(options.work());
    try (Runner runner = new Runner(settings, work)) {
      if (options.cpu()) {
        return new CpuSuite(options, runner, out).run(chosen);
      }
      for (Case testCase : chosen) {
        judge(testCase, variants, runner);
      }
      if (!options.keep()) {
        FileSystem fs = work.getFileSystem(runner.configuration());
        fs.delete(work, true);
      }
    }
    return end();
  }

  private int end() {
    out.println(passed + " passed, " + failed + " failed, " + skipped + " skipped");
    return failed == 0 ? 0 : 1;
  }

  /** Returns why no job of stock Hadoop runs in this JVM, or null. Each Hadoop is for some versions of Java. */
  private static String limitOfStock() {
    try {
      UserGroupInformation.getCurrentUser();
      return null;
    } catch (IOException | RuntimeException | LinkageError e) {
      return "stock Hadoop does not run on Java " + System.getProperty("java.specification.version") + ": " + e;
    }
  }

  private void skip(String what, String why) {
    skipped++;
    out.println("skip " + what + ": " + why);
  }

  private void judge(Case testCase, List<Variant> variants, Runner runner) throws InterruptedException, IOException {
    List<Variant> chosen = variants.stream().filter(variant -> variant.chooses(testCase)).toList();
    String obstacle = testCase.obstacle().find(runner.configuration());
    if (obstacle != null) {
      chosen.forEach(variant -> skip(name(testCase, variant), obstacle));
      return;
    }
    Outcome stock = null;
    for (Variant variant : chosen) {
      long start_ns = System.nanoTime();
      List<String> differences;
      try {
        if (stock == null) {
          runner.delete(testCase);
          runner.prepare(testCase);
          stock = runner.run(testCase, testCase.body(), Map.of(), "a");
        }
        if (options.stockMayFail() && stock.failed() && testCase.mustFailWith() == null) {
          skip(name(testCase, variant),
              "stock Hadoop " + VersionInfo.getVersion() + " cannot run it here: " + stock.ending());
          continue;
        }
        Outcome other = runner.run(testCase, variant.body(testCase), variant.overlay(), "b");
        differences = Comparison.differences(testCase, stock, other, variant.claim());
        if (variants.size() > 1) {
          runner.delete(testCase, "b");
        }
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        // A case that cannot be written or read is one failure and does not stop the suite.
        differences = List.of("the suite itself failed: " + e);
      }
      report(name(testCase, variant), differences, System.nanoTime() - start_ns);
    }
    if (!options.keep()) {
      runner.delete(testCase);
    }
  }

  private String name(Case testCase, Variant variant) {
    return options.variants().size() > 1 ? variant.name() + ":" + testCase.name() : testCase.name();
  }

  private void report(String name, List<String> differences, long taken_ns) {
    String time = options.times() ? String.format(Locale.ROOT, " (%.1f s)", taken_ns / 1e9) : "";
    if (differences.isEmpty()) {
      passed++;
      out.println("ok " + name + time);
    } else {
      failed++;
      out.println("FAIL " + name + time + ": " + String.join("; ", differences));
    }
  }

  /** Sends Hadoop's log to a file: cases that must fail would fill the report with stacks. */
  private void logTo(File file) throws IOException {
    LogManager.resetConfiguration();
    Logger root = LogManager.getRootLogger();
    root.setLevel(file == null ? Level.OFF : options.keep() ? Level.INFO : Level.WARN);
    if (file != null) {
      file.getParentFile().mkdirs();
      root.addAppender(new FileAppender(new PatternLayout("%d{ISO8601} %-5p [%t] %c{1}: %m%n"), file.getPath()));
    }
  }
}
