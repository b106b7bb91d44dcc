package org.yunti.hadoop.conformance.cases.examples;

import java.util.List;
import org.apache.hadoop.examples.AggregateWordCount;
import org.apache.hadoop.examples.AggregateWordHistogram;
import org.apache.hadoop.examples.BaileyBorweinPlouffe;
import org.apache.hadoop.examples.Grep;
import org.apache.hadoop.examples.MultiFileWordCount;
import org.apache.hadoop.examples.QuasiMonteCarlo;
import org.apache.hadoop.examples.RandomTextWriter;
import org.apache.hadoop.examples.RandomWriter;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.examples.WordMean;
import org.apache.hadoop.examples.WordMedian;
import org.apache.hadoop.examples.WordStandardDeviation;
import org.apache.hadoop.examples.dancing.DistributedPentomino;
import org.apache.hadoop.examples.dancing.Pentomino;
import org.yunti.hadoop.conformance.input.TextInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;

/** Programs of hadoop-mapreduce-examples that count, unmodified, through their main methods. */
public final class Examples {
  private static final String RANDOM_NAME = "the program puts a random number into the name of a folder";
  private static final String RANDOM_DATA = "the program writes random data from an unseeded source";

  private Examples() {}

  public static List<Case> cases() {
    return List.of(
        words("wordcount", WordCount.class).onCluster(),
        words("wordmean", WordMean.class).prints("The mean"),
        words("wordmedian", WordMedian.class).prints("The median")
            .body(trial -> trial.programOfSite(WordMedian.class, trial.input("text").toString(),
                trial.output("out").toString())),
        words("wordstandarddeviation", WordStandardDeviation.class).prints("The standard deviation"),
        words("multifilewc", MultiFileWordCount.class),
        words("aggregatewordcount", AggregateWordCount.class, "2", "textinputformat"),
        words("aggregatewordhist", AggregateWordHistogram.class, "1", "textinputformat"),
        words("grep", Grep.class, "wor?d[0-9]*7").order(Order.VALUES_FREE).counterMayDiffer("SPLIT_RAW_BYTES", RANDOM_NAME),
        words("grep-group", Grep.class, "(o?r?d)([0-9]+)", "1").order(Order.VALUES_FREE)
            .counterMayDiffer("SPLIT_RAW_BYTES", RANDOM_NAME),
        Case.of("examples/pi").prints("Estimated value")
            .counterMayDiffer("SPLIT_RAW_BYTES", RANDOM_NAME)
            .body(trial -> trial.program(QuasiMonteCarlo.class, "5", "2000")).onCluster(),
        Case.of("examples/bbp").order(Order.EXACT)
            .body(trial -> trial.program(BaileyBorweinPlouffe.class, "1", "40", "3", trial.output("bbp").toString())),
        // Twelve pieces on 3 x 20 have two solutions, found in a second. A solution is a value of several lines, and
        // both may have the same key.
        Case.of("examples/pentomino").order(Order.RECORDS_FREE).set("mapreduce.pentomino.class", Pentomino.class.getName())
            .body(trial -> trial.program(DistributedPentomino.class, trial.output("out").toString(),
                "-depth", "1", "-width", "3", "-height", "20")),
        random(Case.of("examples/randomwriter")
            .set("mapreduce.randomwriter.mapsperhost", 2).set("mapreduce.randomwriter.bytespermap", 100_000)
            .body(trial -> trial.program(RandomWriter.class, trial.output("out").toString()))),
        random(Case.of("examples/randomtextwriter")
            .set("mapreduce.randomtextwriter.mapsperhost", 2)
            .set("mapreduce.randomtextwriter.bytespermap", 100_000)
            .body(trial -> trial.program(RandomTextWriter.class, trial.output("out").toString()))));
  }

  private static Case words(String name, Class<?> program, String... more) {
    return Case.of("examples/" + name).input(TextInput.words(2, 500)).order(Order.EXACT).body(trial -> {
      String[] arguments = new String[2 + more.length];
      arguments[0] = trial.input("text").toString();
      arguments[1] = trial.output("out").toString();
      System.arraycopy(more, 0, arguments, 2, more.length);
      trial.program(program, arguments);
    });
  }

  private static Case random(Case writer) {
    for (String counter : List.of("RECORDS_WRITTEN", "BYTES_WRITTEN", "MAP_OUTPUT_RECORDS")) {
      writer.counterMayDiffer(counter, RANDOM_DATA);
    }
    return writer.order(Order.CONTENT_FREE);
  }
}
