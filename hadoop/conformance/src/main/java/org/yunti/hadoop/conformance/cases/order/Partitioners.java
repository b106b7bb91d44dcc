package org.yunti.hadoop.conformance.cases.order;

import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.lib.partition.BinaryPartitioner;
import org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator;
import org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedPartitioner;
import org.apache.hadoop.mapreduce.lib.partition.TotalOrderPartitioner;
import org.yunti.hadoop.conformance.cases.keys.BinaryKeys;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/** Jobs with their own partitioners. */
public final class Partitioners {
  private static final Draw<IntWritable> NUMBERS = (random, record) -> new IntWritable(random.nextInt());

  private Partitioners() {}

  public static List<Case> cases() {
    return List.of(
        fields("order/key-fields-numeric", "-k2,2n -k1,1r"),
        fields("order/key-fields-reverse", "-r -k3,3 -k1.2,1.3"),
        totalOrder().onCluster(),
        Traced.of("order/binary-partitioner", BytesWritable.class,
            (random, record) -> BinaryKeys.bytes(random, 4 + random.nextInt(4)), IntWritable.class, NUMBERS)
            .tweak(job -> {
              BinaryPartitioner.setOffsets(job.getConfiguration(), 1, -2);
              job.setPartitionerClass(BinaryPartitioner.class);
            }),
        named("order/partitioner-by-value").tweak(job -> job.setPartitionerClass(ByValue.class)),
        named("order/partitioner-with-state").tweak(job -> job.setPartitionerClass(RoundRobin.class)),
        named("order/partitioner-configurable").set("conformance.shift", 2)
            .tweak(job -> job.setPartitionerClass(Shifted.class)));
  }

  private static Case named(String name) {
    return Traced.of(name, Text.class, Comparators.names(), IntWritable.class, NUMBERS);
  }

  /** Returns a case that sorts by fields of a text line, as Hadoop Streaming does. */
  private static Case fields(String name, String comparison) {
    return Traced.of(name, Text.class, Partitioners::line, IntWritable.class, NUMBERS)
        .set("mapreduce.map.output.key.field.separator", ".")
        .set("mapreduce.partition.keypartitioner.options", "-k1,1")
        .set("mapreduce.partition.keycomparator.options", comparison)
        .tweak(job -> {
          job.setPartitionerClass(KeyFieldBasedPartitioner.class);
          job.setSortComparatorClass(KeyFieldBasedComparator.class);
        });
  }

  private static Text line(Random random, int record) {
    return new Text("abc".substring(random.nextInt(3)) + "." + (random.nextInt(300) - 150) + ".x"
        + random.nextInt(10));
  }

  private static Case totalOrder() {
    return named("order/total-order-partitioner")
        .input(trial -> {
          try (SequenceFile.Writer writer = SequenceFile.createWriter(trial.conf(),
              SequenceFile.Writer.file(trial.input("cuts")), SequenceFile.Writer.keyClass(Text.class),
              SequenceFile.Writer.valueClass(NullWritable.class))) {
            writer.append(new Text("bob"), NullWritable.get());
            writer.append(new Text("carol#5"), NullWritable.get());
          }
        })
        .tweak(job -> {
          String cuts = job.getConfiguration().get("mapreduce.input.fileinputformat.inputdir")
              .replaceAll("/seq$", "/cuts");
          TotalOrderPartitioner.setPartitionFile(job.getConfiguration(), new org.apache.hadoop.fs.Path(cuts));
          job.setPartitionerClass(TotalOrderPartitioner.class);
        });
  }

  /** Partitioner that sends the records of one key to several reduces. */
  public static final class ByValue extends Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return (value.get() & Integer.MAX_VALUE) % partitions;
    }
  }

  /**
   * Partitioner with state: it must be called once per record, in the order of the map's output, on one object per map.
   */
  public static final class RoundRobin extends Partitioner<Text, IntWritable> {
    private int calls;

    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return calls++ % partitions;
    }
  }

  /** Partitioner with a parameter from the job. */
  public static final class Shifted extends Partitioner<Text, IntWritable> implements Configurable {
    private Configuration conf;

    @Override
    public void setConf(Configuration newConf) {
      conf = newConf;
    }

    @Override
    public Configuration getConf() {
      return conf;
    }

    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return ((key.hashCode() & Integer.MAX_VALUE) + conf.getInt("conformance.shift", 0)) % partitions;
    }
  }
}
