package org.yunti.hadoop.key;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.JobConf;
import org.yunti.hadoop.Declined;
import org.yunti.hadoop.collect.RecordBatch;

/** Finds the writer for a job's keys: by their class and by the comparator that sorts them, both exactly. */
public final class KeyWriters {
  private KeyWriters() {}

  /** The writer for keys of this class in the order of this comparator. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  public static <K> KeyWriter<K> find(JobConf job, Class<K> keyClass, RawComparator<?> comparator) throws IOException {
    if (!SortSetting.sorts(job)) {
      return new Carried<>(new SortSetting.Unordered<>(), serializer(job, keyClass));
    }
    for (Class<?> named : job.getClasses(KeyNormaliser.SETTING)) {
      KeyNormaliser<K> normaliser;
      try {
        normaliser = (KeyNormaliser<K>) named.getDeclaredConstructor().newInstance();
      } catch (ReflectiveOperationException | ClassCastException e) {
        throw new Declined("key normaliser " + named.getName() + ": " + e, e);
      }
      if (normaliser.serves(keyClass, comparator)) {
        return new Carried<>(normaliser, serializer(job, keyClass));
      }
    }
    KeyWriter<?> writer = known(keyClass, comparator.getClass());
    if (writer == null) {
      throw new Declined("key type " + keyClass.getName() + " with comparator " + comparator.getClass().getName());
    }
    return (KeyWriter<K>) (KeyWriter) writer;
  }

  private static <K> Serializer<K> serializer(Configuration conf, Class<K> keyClass) throws Declined {
    Serializer<K> serializer = new SerializationFactory(conf).getSerializer(keyClass);
    if (serializer == null) {
      throw new Declined("no serializer for " + keyClass.getName());
    }
    return serializer;
  }

  private static KeyWriter<?> known(Class<?> keyClass, Class<?> comparator) {
    if (keyClass == Text.class && comparator == Text.Comparator.class) {
      return new OfText();
    }
    if (keyClass == BytesWritable.class && comparator == BytesWritable.Comparator.class) {
      return new OfBytes();
    }
    if (keyClass == IntWritable.class && comparator == IntWritable.Comparator.class) {
      return new OfInt();
    }
    if (keyClass == LongWritable.class && comparator == LongWritable.Comparator.class) {
      return new OfLong(KeyForm.SIGNED, Long.MIN_VALUE);
    }
    if (keyClass == LongWritable.class && comparator == LongWritable.DecreasingComparator.class) {
      // Minimum turns the sign bit; all bits but that one are turned beside.
      return new OfLong(KeyForm.SIGNED_DOWN, Long.MAX_VALUE);
    }
    if (keyClass == ShortWritable.class && comparator == ShortWritable.Comparator.class) {
      return new OfShort();
    }
    if (keyClass == ByteWritable.class && comparator == ByteWritable.Comparator.class) {
      return new OfByte();
    }
    if (keyClass == BooleanWritable.class && comparator == BooleanWritable.Comparator.class) {
      return new OfBoolean();
    }
    if (keyClass == FloatWritable.class && comparator == FloatWritable.Comparator.class) {
      return new OfFloat();
    }
    if (keyClass == DoubleWritable.class && comparator == DoubleWritable.Comparator.class) {
      return new OfDouble();
    }
    if (keyClass == MD5Hash.class && comparator == MD5Hash.Comparator.class) {
      return new OfHash();
    }
    if (keyClass == NullWritable.class && comparator == NullWritable.Comparator.class) {
      return new OfNull();
    }
    if (OfUtf8.serves(keyClass, comparator)) {
      return new OfUtf8();
    }
    // These have no comparator of their own: the general one reads both keys and asks them.
    if (keyClass == VIntWritable.class && comparator == WritableComparator.class) {
      return new OfVInt();
    }
    if (keyClass == VLongWritable.class && comparator == WritableComparator.class) {
      return new OfVLong();
    }
    return null;
  }

  private static final class OfText extends KeyWriter<Text> {
    OfText() {
      super(KeyForm.TEXT);
    }

    @Override
    public int write(Text key, RecordBatch to) {
      int length = key.getLength();
      to.put(key.getBytes(), 0, length);
      return WritableUtils.getVIntSize(length) + length;
    }
  }

  private static final class OfBytes extends KeyWriter<BytesWritable> {
    OfBytes() {
      super(KeyForm.BYTES);
    }

    @Override
    public int write(BytesWritable key, RecordBatch to) {
      to.put(key.getBytes(), 0, key.getLength());
      return 4 + key.getLength();
    }
  }

  /** Hadoop 0.x had it for strings, and still does. */
  @SuppressWarnings("deprecation")
  private static final class OfUtf8 extends KeyWriter<org.apache.hadoop.io.UTF8> {
    OfUtf8() {
      super(KeyForm.UTF8);
    }

    static boolean serves(Class<?> keyClass, Class<?> comparator) {
      return keyClass == org.apache.hadoop.io.UTF8.class && comparator == org.apache.hadoop.io.UTF8.Comparator.class;
    }

    @Override
    public int write(org.apache.hadoop.io.UTF8 key, RecordBatch to) {
      to.put(key.getBytes(), 0, key.getLength());
      return 2 + key.getLength();
    }
  }

  private static final class OfInt extends KeyWriter<IntWritable> {
    OfInt() {
      super(KeyForm.SIGNED);
    }

    @Override
    public int write(IntWritable key, RecordBatch to) {
      to.putInt(key.get() ^ Integer.MIN_VALUE);
      return 4;
    }
  }

  private static final class OfLong extends KeyWriter<LongWritable> {
    private final long turn;

    OfLong(KeyForm form, long turn) {
      super(form);
      this.turn = turn;
    }

    @Override
    public int write(LongWritable key, RecordBatch to) {
      to.putLong(key.get() ^ turn);
      return 8;
    }
  }

  private static final class OfShort extends KeyWriter<ShortWritable> {
    OfShort() {
      super(KeyForm.SIGNED);
    }

    @Override
    public int write(ShortWritable key, RecordBatch to) {
      to.putShort((short) (key.get() ^ Short.MIN_VALUE));
      return 2;
    }
  }

  private static final class OfByte extends KeyWriter<ByteWritable> {
    OfByte() {
      super(KeyForm.SIGNED);
    }

    @Override
    public int write(ByteWritable key, RecordBatch to) {
      to.putByte((byte) (key.get() ^ Byte.MIN_VALUE));
      return 1;
    }
  }

  private static final class OfBoolean extends KeyWriter<BooleanWritable> {
    OfBoolean() {
      super(KeyForm.SAME);
    }

    @Override
    public int write(BooleanWritable key, RecordBatch to) {
      to.putByte((byte) (key.get() ? 1 : 0));
      return 1;
    }
  }

  private static final class OfFloat extends KeyWriter<FloatWritable> {
    OfFloat() {
      super(KeyForm.FLOAT);
    }

    @Override
    public int write(FloatWritable key, RecordBatch to) {
      // As DataOutput.writeFloat: all NaNs are one.
      int bits = Float.floatToIntBits(key.get());
      to.putInt(bits < 0 ? ~bits : bits ^ Integer.MIN_VALUE);
      return 4;
    }
  }

  private static final class OfDouble extends KeyWriter<DoubleWritable> {
    OfDouble() {
      super(KeyForm.FLOAT);
    }

    @Override
    public int write(DoubleWritable key, RecordBatch to) {
      long bits = Double.doubleToLongBits(key.get());
      to.putLong(bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
      return 8;
    }
  }

  private static final class OfHash extends KeyWriter<MD5Hash> {
    OfHash() {
      super(KeyForm.SAME);
    }

    @Override
    public int write(MD5Hash key, RecordBatch to) {
      to.put(key.getDigest(), 0, MD5Hash.MD5_LEN);
      return MD5Hash.MD5_LEN;
    }
  }

  private static final class OfNull extends KeyWriter<NullWritable> {
    OfNull() {
      super(KeyForm.SAME);
    }

    @Override
    public int write(NullWritable key, RecordBatch to) {
      return 0;
    }
  }

  private static final class OfVInt extends KeyWriter<VIntWritable> {
    OfVInt() {
      super(KeyForm.VINT);
    }

    @Override
    public int write(VIntWritable key, RecordBatch to) {
      to.putLong(key.get() ^ Long.MIN_VALUE);
      return WritableUtils.getVIntSize(key.get());
    }
  }

  private static final class OfVLong extends KeyWriter<VLongWritable> {
    OfVLong() {
      super(KeyForm.VINT);
    }

    @Override
    public int write(VLongWritable key, RecordBatch to) {
      to.putLong(key.get() ^ Long.MIN_VALUE);
      return WritableUtils.getVIntSize(key.get());
    }
  }

  /** A key of the user's own: its bytes go before the value. */
  private static final class Carried<K> extends KeyWriter<K> {
    private static final int LENGTH_BYTES = 4;

    private final KeyNormaliser<K> normaliser;
    private final Serializer<K> serializer;
    private K key;

    Carried(KeyNormaliser<K> normaliser, Serializer<K> serializer) {
      super(KeyForm.CARRIED);
      this.normaliser = normaliser;
      this.serializer = serializer;
    }

    private RecordBatch opened;

    @Override
    public int write(K key, RecordBatch to) throws IOException {
      this.key = key;
      normaliser.normalise(key, to.data());
      // Hadoop has no length there; its key is counted where it is carried.
      return -LENGTH_BYTES;
    }

    @Override
    public void writeCarried(RecordBatch to) throws IOException {
      if (opened != to) {
        serializer.open(to.data());
        opened = to;
      }
      int at = to.position();
      to.putInt(0);
      serializer.serialize(key);
      to.setInt(at, to.position() - at - LENGTH_BYTES);
      key = null;
    }
  }
}
