package org.yunti.hadoop.conformance.cases.order;

import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Partitioner;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/** Jobs with their own comparators for sorting and grouping. */
public final class Comparators {
  private Comparators() {}

  public static List<Case> cases() {
    return List.of(
        // The sort is the default one of Text; only the reduce side needs the groups.
        traced("order/grouping-only").tweak(job -> {
          job.setPartitionerClass(ByName.class);
          job.setGroupingComparatorClass(NameComparator.class);
        }).onCluster(),
        traced("order/secondary-sort").tweak(job -> {
          job.setPartitionerClass(ByName.class);
          job.setSortComparatorClass(NameThenNumberDown.class);
          job.setGroupingComparatorClass(NameComparator.class);
        }).onCluster(),
        // Groups need not be adjacent in the sort order; a name then occurs in several groups.
        traced("order/groups-across-sort").tweak(job -> {
          job.setSortComparatorClass(Backwards.class);
          job.setGroupingComparatorClass(NameComparator.class);
        }),
        traced("order/text-descending")
            .tweak(job -> job.setSortComparatorClass(Backwards.class)),
        Traced.of("order/int-descending", IntWritable.class,
            (random, record) -> new IntWritable(random.nextInt() >> random.nextInt(32)), IntWritable.class,
            Comparators::number)
            .tweak(job -> job.setSortComparatorClass(IntBackwards.class)),
        traced("order/raw-comparator-only")
            .tweak(job -> job.setSortComparatorClass(ByLengthOnly.class)),
        traced("order/configurable-comparator").set("conformance.skip.bytes", 3)
            .tweak(job -> job.setSortComparatorClass(SkippingComparator.class)),
        // Comparators of other key types than the job's: the comparator decides.
        Traced.of("order/int-compared-as-bytes", IntWritable.class,
            (random, record) -> new IntWritable(random.nextInt(2000) - 1000), IntWritable.class,
            Comparators::number)
            .tweak(job -> job.setSortComparatorClass(PlainBytes.class)),
        traced("order/everything-equal")
            .tweak(job -> job.setSortComparatorClass(AllEqual.class)));
  }

  private static Case traced(String name) {
    return Traced.of(name, Text.class, Comparators::nameAndNumber, IntWritable.class, Comparators::number);
  }

  private static Text nameAndNumber(Random random, int record) {
    return new Text(List.of("ada", "bob", "carol", "\u00e9ric").get(random.nextInt(4)) + "#" + random.nextInt(120));
  }

  private static IntWritable number(Random random, int record) {
    return new IntWritable(random.nextInt());
  }

  private static String name(Text key) {
    return key.toString().substring(0, key.toString().indexOf('#'));
  }

  private static int numberOf(Text key) {
    return Integer.parseInt(key.toString().substring(key.toString().indexOf('#') + 1));
  }

  /** Partitioner that sends all keys of a name to one reduce. */
  public static final class ByName extends Partitioner<Text, IntWritable> {
    @Override
    public int getPartition(Text key, IntWritable value, int partitions) {
      return (name(key).hashCode() & Integer.MAX_VALUE) % partitions;
    }
  }

  /** Comparator of Text keys as objects. */
  public abstract static class TextComparator extends WritableComparator {
    protected TextComparator() {
      super(Text.class, true);
    }

    @Override
    public final int compare(@SuppressWarnings("rawtypes") WritableComparable a,
        @SuppressWarnings("rawtypes") WritableComparable b) {
      return compareTexts((Text) a, (Text) b);
    }

    abstract int compareTexts(Text a, Text b);
  }

  /** Comparator by name, for groups. */
  public static final class NameComparator extends TextComparator {
    @Override
    int compareTexts(Text a, Text b) {
      return name(a).compareTo(name(b));
    }
  }

  /** Comparator with ascending names and descending numbers. */
  public static final class NameThenNumberDown extends TextComparator {
    @Override
    int compareTexts(Text a, Text b) {
      int byName = name(a).compareTo(name(b));
      return byName != 0 ? byName : Integer.compare(numberOf(b), numberOf(a));
    }
  }

  /** Descending order of Text. */
  public static final class Backwards extends TextComparator {
    @Override
    int compareTexts(Text a, Text b) {
      return b.compareTo(a);
    }
  }

  /** Descending order of numbers, derived from the registered comparator as users do. */
  public static final class IntBackwards extends IntWritable.Comparator {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return super.compare(b, startB, lengthB, a, startA, lengthA);
    }
  }

  /** RawComparator by length alone, without WritableComparator: most keys are equal but differ in bytes. */
  public static final class ByLengthOnly implements RawComparator<Text> {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return Integer.compare(lengthA, lengthB);
    }

    @Override
    public int compare(Text a, Text b) {
      return Integer.compare(a.getLength(), b.getLength());
    }
  }

  /** Comparator with a parameter from the job. */
  public static final class SkippingComparator implements RawComparator<Text>, Configurable {
    private Configuration conf;
    private int skip;

    @Override
    public void setConf(Configuration newConf) {
      conf = newConf;
      skip = conf.getInt("conformance.skip.bytes", 0);
    }

    @Override
    public Configuration getConf() {
      return conf;
    }

    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return WritableComparator.compareBytes(a, startA + skip, lengthA - skip, b, startB + skip, lengthB - skip);
    }

    @Override
    public int compare(Text a, Text b) {
      throw new UnsupportedOperationException("the sort has bytes");
    }
  }

  /** Comparator of the serialised bytes of any key. */
  public static final class PlainBytes implements RawComparator<BytesWritable> {
    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return WritableComparator.compareBytes(a, startA, lengthA, b, startB, lengthB);
    }

    @Override
    public int compare(BytesWritable a, BytesWritable b) {
      return a.compareTo(b);
    }
  }

  /** Comparator under which all keys are equal. */
  public static final class AllEqual extends TextComparator {
    @Override
    int compareTexts(Text a, Text b) {
      return 0;
    }
  }

  /** Returns the draw of these keys for other cases. */
  static Draw<Text> names() {
    return Comparators::nameAndNumber;
  }
}
