package org.yunti.hadoop.conformance.compare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.yunti.hadoop.conformance.runner.Outcome;
import org.yunti.hadoop.conformance.runner.Outcome.JobResult;
import org.yunti.hadoop.conformance.suite.Case;

/** Differences between two runs of a case. An empty list means that the case passes. */
public final class Comparison {
  private static final int SHOWN_CHARACTERS_MAX = 160;
  /** Exception of native classes that fail: an IOException of its own class, which clients know. */
  private static final String USER_CODE = "org.yunti.hadoop.UserCodeFailure";

  private final Case testCase;
  private final Outcome stock;
  private final Outcome variant;
  private final List<String> differences = new ArrayList<>();

  private Comparison(Case testCase, Outcome stock, Outcome variant) {
    this.testCase = testCase;
    this.stock = stock;
    this.variant = variant;
  }

  /** @param claim the counters that the variant's tasks must report */
  public static List<String> differences(Case testCase, Outcome stock, Outcome variant, Claim claim) {
    Comparison comparison = new Comparison(testCase, stock, variant);
    if (!comparison.stockIsAsExpected()) {
      return comparison.differences;
    }
    comparison.compareEndings();
    comparison.compareFiles();
    comparison.compare("standard output", stock.printed(), variant.printed());
    comparison.compareJobs(claim);
    return comparison.differences;
  }

  /** Returns false if the stock side is wrong; the case then proves nothing about the variant. */
  private boolean stockIsAsExpected() {
    if (stock.failed() != (testCase.mustFailWith() != null)) {
      differences.add("stock " + stock.ending() + ", contrary to the case");
    } else if (stock.failed() && !stock.ending().contains(testCase.mustFailWith())) {
      differences.add("stock failed without \"" + testCase.mustFailWith() + "\": " + stock.ending());
    } else if (stock.jobs().isEmpty()) {
      differences.add("no job was recorded: put the suite before Hadoop on the class path");
    }
    return differences.isEmpty();
  }

  private void compareEndings() {
    if (stock.failed() != variant.failed()) {
      differences.add("stock " + stock.ending() + ", variant " + variant.ending());
    } else if (variant.failed() && !variant.ending().contains(testCase.mustFailWith())) {
      differences.add("failed without \"" + testCase.mustFailWith() + "\": " + variant.ending());
    }
  }

  private void compareFiles() {
    TreeSet<String> names = new TreeSet<>(stock.files().keySet());
    names.addAll(variant.files().keySet());
    for (String name : names) {
      if (!variant.files().containsKey(name)) {
        differences.add("file " + name + " is missing");
      } else if (!stock.files().containsKey(name)) {
        differences.add("file " + name + " is new");
      } else {
        compare("file " + name, stock.files().get(name), variant.files().get(name));
      }
    }
  }

  /** Records the first record that differs: later differences mostly follow from it. */
  private void compare(String where, List<String> stockRecords, List<String> variantRecords) {
    int common = Math.min(stockRecords.size(), variantRecords.size());
    for (int i = 0; i < common; i++) {
      if (!stockRecords.get(i).equals(variantRecords.get(i))) {
        differences.add(where + " record " + (i + 1) + ": stock " + shown(stockRecords.get(i)) + ", variant "
            + shown(variantRecords.get(i)));
        return;
      }
    }
    if (stockRecords.size() != variantRecords.size()) {
      List<String> longer = stockRecords.size() > common ? stockRecords : variantRecords;
      differences.add(where + ": stock has " + stockRecords.size() + " records, variant " + variantRecords.size()
          + "; the first extra one is " + shown(longer.get(common)));
    }
  }

  private void compareJobs(Claim claim) {
    if (stock.jobs().size() != variant.jobs().size()) {
      differences.add("stock ran " + stock.jobs().size() + " jobs, variant " + variant.jobs().size());
      return;
    }
    for (int i = 0; i < stock.jobs().size(); i++) {
      String where = stock.jobs().size() == 1 ? "" : "job " + (i + 1) + ": ";
      JobResult stockJob = stock.jobs().get(i);
      JobResult variantJob = variant.jobs().get(i);
      if (stockJob.succeeded() != variantJob.succeeded()) {
        continue; // Reported by compareEndings.
      }
      String kind = USER_CODE.equals(variantJob.kindOfFailure()) ? IOException.class.getName() : variantJob.kindOfFailure();
      if (!stockJob.succeeded() && !stockJob.kindOfFailure().equals(kind)) {
        differences.add(where + "stock fails with " + stockJob.kindOfFailure() + ", variant with " + kind);
      }
      if (stockJob.succeeded()) {
        // The tasks that a failing job ran before its end depend on a race.
        compareCounters(where, stockJob.counters(), variantJob.counters());
      }
      String fault = NativeClaim.fault(claim, testCase, variantJob);
      if (fault != null) {
        differences.add(where + fault);
      }
    }
  }

  private void compareCounters(String where, Map<String, Long> stockCounters, Map<String, Long> variantCounters) {
    TreeSet<String> names = new TreeSet<>(stockCounters.keySet());
    names.addAll(variantCounters.keySet());
    if (stockCounters.keySet().stream().noneMatch(Comparison::isOfJob)) {
      names.removeIf(Comparison::isOfJob); // LocalJobRunner does not count attempts.
    }
    for (String name : names) {
      // A counter that was never incremented need not exist.
      long stockValue = stockCounters.getOrDefault(name, 0L);
      long variantValue = variantCounters.getOrDefault(name, 0L);
      if (stockValue != variantValue && !CounterRules.isFree(name)
          && !testCase.freeCounters().containsKey(name.substring(name.indexOf(':') + 1))) {
        differences.add(where + "counter " + name + ": stock " + stockValue + ", variant " + variantValue);
      }
    }
  }

  private static boolean isOfJob(String counter) {
    return counter.startsWith("JobCounter:");
  }

  private static String shown(String record) {
    String oneLine = record.replace('\t', ' ').replaceAll("[^\\x20-\\x7e]", "?");
    return "[" + (oneLine.length() <= SHOWN_CHARACTERS_MAX ? oneLine
        : oneLine.substring(0, SHOWN_CHARACTERS_MAX) + "...") + "]";
  }
}
