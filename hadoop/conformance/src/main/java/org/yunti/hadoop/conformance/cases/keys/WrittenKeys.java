package org.yunti.hadoop.conformance.cases.keys;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.GenericWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/** User-defined key classes, of which a plug-in knows only what Hadoop knows. */
public final class WrittenKeys {
  private WrittenKeys() {}

  public static List<Case> cases() {
    Draw<IntWritable> numbers = (random, record) -> new IntWritable(random.nextInt());
    List<Case> cases = new ArrayList<>();
    cases.add(Traced.of("keys/raw-comparator", RawPair.class, (random, record) -> fill(new RawPair(), random),
        IntWritable.class, numbers).onCluster());
    cases.add(Traced.of("keys/object-comparator", Pair.class, (random, record) -> fill(new Pair(), random),
        IntWritable.class, numbers));
    cases.add(Traced.of("keys/text-subclass", PlainText.class, (random, record) -> word(new PlainText(), random),
        IntWritable.class, numbers));
    cases.add(Traced.of("keys/text-subclass-comparator", CaselessText.class,
        (random, record) -> word(new CaselessText(), random), IntWritable.class, numbers));
    cases.add(Traced.of("keys/bytes-subclass-written", LineBytes.class,
        (random, record) -> new LineBytes(BinaryKeys.bytes(random, random.nextInt(4)).copyBytes()),
        IntWritable.class, numbers));
    cases.add(Traced.of("keys/generic", AnyKey.class, WrittenKeys::anyKey, IntWritable.class, numbers));
    cases.add(Traced.of("keys/legacy-utf8", legacyUtf8(), legacyUtf8Keys(), IntWritable.class, numbers));
    return cases;
  }

  private static <P extends Pair> P fill(P pair, Random random) {
    pair.number = random.nextInt(20) - 10;
    pair.text.set("t" + random.nextInt(9));
    return pair;
  }

  private static <T extends Text> T word(T text, Random random) {
    StringBuilder word = new StringBuilder();
    for (int length = random.nextInt(4); length > 0; length--) {
      word.append("aAbBzZ".charAt(random.nextInt(6)));
    }
    text.set(word.toString());
    return text;
  }

  private static AnyKey anyKey(Random random, int record) {
    AnyKey key = new AnyKey();
    key.set(random.nextBoolean() ? new LongWritable(random.nextInt(50)) : new Text("t" + random.nextInt(50)));
    return key;
  }

  /** Key type of Hadoop 0.x, with a comparator of its own. */
  @SuppressWarnings("deprecation")
  private static Class<org.apache.hadoop.io.UTF8> legacyUtf8() {
    return org.apache.hadoop.io.UTF8.class;
  }

  @SuppressWarnings("deprecation")
  private static Draw<org.apache.hadoop.io.UTF8> legacyUtf8Keys() {
    return (random, record) -> new org.apache.hadoop.io.UTF8(word(new Text(), random).toString());
  }

  /** Key compared as an object, without a raw comparator; larger numbers first. */
  public static class Pair implements WritableComparable<Pair> {
    protected int number;
    protected final Text text = new Text();

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(number);
      text.write(out);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      number = in.readInt();
      text.readFields(in);
    }

    @Override
    public int compareTo(Pair other) {
      int byNumber = Integer.compare(other.number, number);
      return byNumber != 0 ? byNumber : text.compareTo(other.text);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Pair pair && compareTo(pair) == 0;
    }

    @Override
    public int hashCode() {
      return number * 31 + text.hashCode();
    }
  }

  /** Key of the same order with a raw comparator, which compares bytes. */
  public static final class RawPair extends Pair {
    static {
      WritableComparator.define(RawPair.class, new Comparator());
    }

    /** Comparator that creates no objects. */
    public static final class Comparator extends WritableComparator {
      public Comparator() {
        super(RawPair.class);
      }

      @Override
      public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
        int byNumber = Integer.compare(readInt(b, startB), readInt(a, startA));
        // A Text follows the number: its length, one byte here, then its bytes.
        return byNumber != 0 ? byNumber
            : compareBytes(a, startA + 5, lengthA - 5, b, startB + 5, lengthB - 5);
      }
    }
  }

  /** Copy of Text under another name, for which Hadoop finds no registered comparator. */
  public static final class PlainText extends Text {}

  /** Text with a case-insensitive order: equal keys may have different bytes. */
  public static final class CaselessText extends Text {
    static {
      WritableComparator.define(CaselessText.class, new Comparator());
    }

    @Override
    public int hashCode() {
      return toString().toLowerCase(java.util.Locale.ROOT).hashCode();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof CaselessText text && toString().equalsIgnoreCase(text.toString());
    }

    /** Comparator of the decoded strings. */
    public static final class Comparator extends WritableComparator {
      public Comparator() {
        super(CaselessText.class, true);
      }

      @Override
      public int compare(@SuppressWarnings("rawtypes") WritableComparable a,
          @SuppressWarnings("rawtypes") WritableComparable b) {
        return a.toString().compareToIgnoreCase(b.toString());
      }
    }
  }

  /**
   * BytesWritable with another serialised form: 16 bits of length. Native code must not read it as its parent class.
   */
  public static final class LineBytes extends BytesWritable {
    public LineBytes() {}

    LineBytes(byte[] bytes) {
      super(bytes);
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeShort(getLength());
      out.write(getBytes(), 0, getLength());
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      byte[] bytes = new byte[in.readShort()];
      in.readFully(bytes);
      set(bytes, 0, bytes.length);
    }
  }

  /** Key of one of two types, sorted by type and then by value. */
  public static final class AnyKey extends GenericWritable implements WritableComparable<AnyKey> {
    @Override
    @SuppressWarnings("unchecked")
    protected Class<? extends Writable>[] getTypes() {
      return (Class<? extends Writable>[]) new Class<?>[] {LongWritable.class, Text.class};
    }

    @Override
    public int compareTo(AnyKey other) {
      if (get() instanceof LongWritable mine && other.get() instanceof LongWritable theirs) {
        return mine.compareTo(theirs);
      }
      if (get() instanceof Text mine && other.get() instanceof Text theirs) {
        return mine.compareTo(theirs);
      }
      return get() instanceof LongWritable ? -1 : 1;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof AnyKey key && compareTo(key) == 0;
    }

    @Override
    public int hashCode() {
      return get().hashCode();
    }
  }
}
