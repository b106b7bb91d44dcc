package org.yunti.hadoop.conformance.cases.values;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.GenericWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.MapWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.ObjectWritable;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.SortedMapWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.TwoDArrayWritable;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.Writable;
import org.yunti.hadoop.conformance.cases.keys.BinaryKeys;
import org.yunti.hadoop.conformance.input.Draw;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/** Values of every type of Hadoop, under keys of two common types in turn. */
public final class ValueTypes {
  private static final int FILES = 2;
  private static final int RECORDS_PER_FILE = 300;

  private final List<Case> cases = new ArrayList<>();

  private ValueTypes() {}

  public static List<Case> cases() {
    ValueTypes types = new ValueTypes();
    types.add("text", Text.class, (random, record) -> new Text("v".repeat(random.nextInt(300))));
    types.add("bytes", BytesWritable.class, (random, record) -> BinaryKeys.bytes(random, random.nextInt(300)));
    types.add("int", IntWritable.class, (random, record) -> new IntWritable(random.nextInt()));
    types.add("long", LongWritable.class, (random, record) -> new LongWritable(random.nextLong()));
    types.add("vint", VIntWritable.class, (random, record) -> new VIntWritable(random.nextInt() >> record % 32));
    types.add("vlong", VLongWritable.class, (random, record) -> new VLongWritable(random.nextLong() >> record % 64));
    types.add("short", ShortWritable.class, (random, record) -> new ShortWritable((short) random.nextInt()));
    types.add("byte", ByteWritable.class, (random, record) -> new ByteWritable((byte) record));
    types.add("boolean", BooleanWritable.class, (random, record) -> new BooleanWritable(random.nextBoolean()));
    types.add("float", FloatWritable.class, (random, record) -> new FloatWritable(random.nextFloat()));
    types.add("double", DoubleWritable.class, (random, record) -> new DoubleWritable(random.nextGaussian()));
    types.add("null", NullWritable.class, Draw.always(NullWritable.get()));
    types.add("md5", MD5Hash.class, (random, record) -> MD5Hash.digest(new byte[] {(byte) record}));
    types.add("map", MapWritable.class, (random, record) -> {
      MapWritable map = new MapWritable();
      map.put(new Text("a"), new IntWritable(random.nextInt()));
      map.put(new Text("b"), new Text("text"));
      return map;
    });
    types.add("sorted-map", EmptiedMap.class, (random, record) -> {
      EmptiedMap map = new EmptiedMap();
      map.put(new Text("k" + random.nextInt()), new IntWritable(random.nextInt()));
      return map;
    });
    types.add("array", Numbers.class, (random, record) -> {
      Numbers array = new Numbers();
      Writable[] elements = new Writable[random.nextInt(20)];
      for (int i = 0; i < elements.length; i++) {
        elements[i] = new LongWritable(random.nextLong());
      }
      array.set(elements);
      return array;
    });
    types.add("array-2d", Matrix.class, (random, record) -> {
      Matrix matrix = new Matrix();
      matrix.set(new Writable[][] {{new IntWritable(random.nextInt())}, {}, {new IntWritable(record)}});
      return matrix;
    });
    types.add("object", ObjectWritable.class,
        (random, record) -> new ObjectWritable(random.nextBoolean() ? "text" + record : new IntWritable(record)));
    types.add("generic", Either.class, (random, record) -> {
      Either either = new Either();
      either.set(random.nextBoolean() ? new Text("text") : new DoubleWritable(record));
      return either;
    });
    types.add("writes-nothing", Nothing.class, (random, record) -> new Nothing());
    types.cases.add(Traced.of("values/null-under-null", NullWritable.class, Draw.always(NullWritable.get()),
        NullWritable.class, Draw.always(NullWritable.get()), FILES, RECORDS_PER_FILE));
    return types.cases;
  }

  private <V> void add(String type, Class<V> valueClass, Draw<V> values) {
    String name = "values/" + type;
    if (cases.size() % 2 == 0) {
      Draw<Text> keys = (random, record) -> new Text("key" + random.nextInt(40));
      cases.add(Traced.of(name, Text.class, keys, valueClass, values, FILES, RECORDS_PER_FILE));
    } else {
      Draw<LongWritable> keys = (random, record) -> new LongWritable(random.nextInt(40) - 20);
      cases.add(Traced.of(name, LongWritable.class, keys, valueClass, values, FILES, RECORDS_PER_FILE));
    }
  }

  /**
   * SortedMapWritable adds the entries it reads to those it has, so a reused one depends on the order of values; this
   * one is emptied first.
   */
  public static final class EmptiedMap extends SortedMapWritable<Text> {
    @Override
    public void readFields(DataInput in) throws IOException {
      clear();
      super.readFields(in);
    }
  }

  /** Array with a fixed element type, as Hadoop requires of values. */
  public static final class Numbers extends ArrayWritable {
    public Numbers() {
      super(LongWritable.class);
    }
  }

  /** Matrix with rows of different lengths. */
  public static final class Matrix extends TwoDArrayWritable {
    public Matrix() {
      super(IntWritable.class);
    }
  }

  /** Value of one of two types. */
  public static final class Either extends GenericWritable {
    @Override
    @SuppressWarnings("unchecked")
    protected Class<? extends Writable>[] getTypes() {
      return (Class<? extends Writable>[]) new Class<?>[] {Text.class, DoubleWritable.class};
    }
  }

  /** Value of zero bytes that is not NullWritable, so that records may be empty. */
  public static final class Nothing implements Writable {
    @Override
    public void write(DataOutput out) {
      // Writes nothing.
    }

    @Override
    public void readFields(DataInput in) {
      // Reads nothing.
    }
  }
}
