package org.yunti.hadoop.conformance.cases.examples;

import java.util.List;
import org.apache.hadoop.examples.Join;
import org.apache.hadoop.examples.SecondarySort;
import org.apache.hadoop.examples.Sort;
import org.apache.hadoop.examples.terasort.TeraChecksum;
import org.apache.hadoop.examples.terasort.TeraGen;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.yunti.hadoop.conformance.cases.keys.BinaryKeys;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.input.SequenceInput;
import org.yunti.hadoop.conformance.input.TextInput;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Order;

/** Programs of hadoop-mapreduce-examples that sort and join. */
public final class SortExamples {
  private SortExamples() {}

  public static List<Case> cases() {
    return List.of(
        // Without a case for -totalOrder: it writes the cuts to another file than it reads, and fails.
        sort("examples/sort").onCluster(),
        secondarySort(),
        join("inner"),
        join("outer"),
        join("override"),
        terasort("examples/terasort").onCluster(),
        terasort("examples/terasort-simple-partitioner").set("mapreduce.terasort.simplepartitioner", true));
  }

  private static Case sort(String name) {
    return Case.of(name)
        .input(new SequenceInput<>(BytesWritable.class,
            (random, record) -> BinaryKeys.bytes(random, random.nextInt(4)), BytesWritable.class,
            (random, record) -> BinaryKeys.bytes(random, random.nextInt(60)), "seq", 3, 500))
        .body(trial -> trial.program(Sort.class, "-r", "3", trial.input("seq").toString(),
            trial.output("out").toString()));
  }

  private static Case secondarySort() {
    // Keys are pairs of numbers with a comparator of their own.
    return Case.of("examples/secondarysort").order(Order.EXACT)
        .input(new TextInput((random, line) -> (random.nextInt(20) - 10) + " " + (random.nextInt() >> line % 32),
            "text", 3, 300))
        .body(trial -> trial.program(SecondarySort.class, trial.input("text").toString(),
            trial.output("out").toString()));
  }

  /** Joins two sorted inputs with gaps and repeated keys; the maps do the join. */
  private static Case join(String operation) {
    Draw<Text> evens = (random, record) -> new Text(String.format("key%05d", record / 3 * 2));
    Draw<Text> thirds = (random, record) -> new Text(String.format("key%05d", record / 2 * 3));
    Draw<IntWritable> numbers = (random, record) -> new IntWritable(random.nextInt());
    String values = operation.equals("override") ? IntWritable.class.getName()
        : "org.apache.hadoop.mapreduce.lib.join.TupleWritable";
    return Case.of("examples/join-" + operation)
        .input(new SequenceInput<>(Text.class, evens, IntWritable.class, numbers, "left", 2, 300))
        .input(new SequenceInput<>(Text.class, thirds, IntWritable.class, numbers, "right", 2, 200))
        .body(trial -> trial.program(Join.class, "-r", "2",
            "-inFormat", "org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat",
            "-outFormat", "org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat",
            "-outKey", Text.class.getName(), "-outValue", values, "-joinOp", operation,
            trial.input("left").toString(), trial.input("right").toString(), trial.output("out").toString()));
  }

  /** Generates, sorts, validates and sums; the validation detects a wrong order. */
  private static Case terasort(String name) {
    return Case.of(name).order(Order.EXACT).set("mapreduce.job.maps", 2).set("mapreduce.job.reduces", 3)
        .body(trial -> {
          String generated = trial.output("generated").toString();
          String sorted = trial.output("sorted").toString();
          trial.program(TeraGen.class, Long.toString(trial.scale().records(9000)), generated);
          trial.program(TeraSort.class, generated, sorted);
          trial.program(TeraValidate.class, sorted, trial.output("report").toString());
          trial.program(TeraChecksum.class, sorted, trial.output("sum").toString());
        });
  }
}
