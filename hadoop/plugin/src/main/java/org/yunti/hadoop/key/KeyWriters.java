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
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.JobConf;
import org.yunti.hadoop.Declined;
import org.yunti.hadoop.collect.RecordBatch;

/**
 * Lookup of the writer for a job's keys: key class and comparator must both match exactly. Keys without a match are
 * sorted by their comparator.
 */
public final class KeyWriters {
  private KeyWriters() {}

  /** Task that uses the keys. */
  public enum Use {
    /** Keys come from a mapper as objects. */
    MAP,
    /** Keys come from maps as bytes, which a normaliser reads through {@link KeyNormals}. */
    REDUCE
  }

  /**
   * Returns the writer for keys of this class in the order of this comparator. Throws {@link org.yunti.hadoop.Declined}
   * if the class has no serializer or a normaliser does not load.
   */
  @SuppressWarnings({"unchecked", "rawtypes"})
  public static <K> KeyWriter<K> find(JobConf job, Class<K> keyClass, RawComparator<?> comparator, Use use)
      throws IOException {
    if (!SortSetting.sorts(job)) {
      return new CarriedWriter<>(new SortSetting.Unordered<>(), serializer(job, keyClass), null);
    }
    for (Class<?> named : job.getClasses(KeyNormaliser.SETTING)) {
      KeyNormaliser<K> normaliser;
      try {
        normaliser = (KeyNormaliser<K>) named.getDeclaredConstructor().newInstance();
      } catch (ReflectiveOperationException | ClassCastException e) {
        throw new Declined("key normaliser " + named.getName() + ": " + e, e);
      }
      if (normaliser.serves(keyClass, comparator)) {
        if (use == Use.MAP) {
          return new CarriedWriter<>(normaliser, serializer(job, keyClass), null);
        }
        Deserializer<K> deserializer = new SerializationFactory(job).getDeserializer(keyClass);
        return deserializer == null
            ? compared(comparator, serializer(job, keyClass))
            : new CarriedWriter<>(normaliser, serializer(job, keyClass), new KeyNormals<>(normaliser, deserializer));
      }
    }
    KeyWriter<?> writer = known(keyClass, comparator.getClass());
    if (writer == null) {
      writer = LibraryKeys.find(keyClass, comparator, serializer(job, keyClass));
    }
    if (writer == null) {
      return compared(comparator, serializer(job, keyClass));
    }
    return (KeyWriter<K>) (KeyWriter) writer;
  }

  private static <K> KeyWriter<K> compared(RawComparator<?> comparator, Serializer<K> serializer) {
    return new SerializedWriter<>(KeyForm.SAME, new KeyComparator(comparator), serializer);
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
      return new TextWriter();
    }
    if (keyClass == BytesWritable.class && comparator == BytesWritable.Comparator.class) {
      return new BytesWriter();
    }
    if (keyClass == IntWritable.class && comparator == IntWritable.Comparator.class) {
      return new IntWriter();
    }
    if (keyClass == LongWritable.class && comparator == LongWritable.Comparator.class) {
      return new LongWriter(KeyForm.SIGNED, Long.MIN_VALUE);
    }
    if (keyClass == LongWritable.class && comparator == LongWritable.DecreasingComparator.class) {
      // Long.MIN_VALUE would invert the sign bit; the descending order inverts all other bits instead.
      return new LongWriter(KeyForm.SIGNED_DOWN, Long.MAX_VALUE);
    }
    if (keyClass == ShortWritable.class && comparator == ShortWritable.Comparator.class) {
      return new ShortWriter();
    }
    if (keyClass == ByteWritable.class && comparator == ByteWritable.Comparator.class) {
      return new ByteWriter();
    }
    if (keyClass == BooleanWritable.class && comparator == BooleanWritable.Comparator.class) {
      return new BooleanWriter();
    }
    if (keyClass == FloatWritable.class && comparator == FloatWritable.Comparator.class) {
      return new FloatWriter();
    }
    if (keyClass == DoubleWritable.class && comparator == DoubleWritable.Comparator.class) {
      return new DoubleWriter();
    }
    if (keyClass == MD5Hash.class && comparator == MD5Hash.Comparator.class) {
      return new HashWriter();
    }
    if (keyClass == NullWritable.class && comparator == NullWritable.Comparator.class) {
      return new NullWriter();
    }
    if (Utf8Writer.serves(keyClass, comparator)) {
      return new Utf8Writer();
    }
    // Types without a registered comparator: WritableComparator reads both keys and calls compareTo.
    if (keyClass == VIntWritable.class && comparator == WritableComparator.class) {
      return new VIntWriter();
    }
    if (keyClass == VLongWritable.class && comparator == WritableComparator.class) {
      return new VLongWriter();
    }
    return null;
  }

  private static final class TextWriter extends KeyWriter<Text> {
    TextWriter() {
      super(KeyForm.TEXT);
    }

    @Override
    public int write(Text key, RecordBatch to) {
      int length = key.getLength();
      to.put(key.getBytes(), 0, length);
      return WritableUtils.getVIntSize(length) + length;
    }
  }

  static final class BytesWriter extends KeyWriter<BytesWritable> {
    BytesWriter() {
      super(KeyForm.BYTES);
    }

    @Override
    public int write(BytesWritable key, RecordBatch to) {
      to.put(key.getBytes(), 0, key.getLength());
      return 4 + key.getLength();
    }
  }

  /** Writer of Hadoop's legacy string class, which exists since 0.x. */
  @SuppressWarnings("deprecation")
  private static final class Utf8Writer extends KeyWriter<org.apache.hadoop.io.UTF8> {
    Utf8Writer() {
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

  private static final class IntWriter extends KeyWriter<IntWritable> {
    IntWriter() {
      super(KeyForm.SIGNED);
    }

    @Override
    public int write(IntWritable key, RecordBatch to) {
      to.putInt(key.get() ^ Integer.MIN_VALUE);
      return 4;
    }
  }

  private static final class LongWriter extends KeyWriter<LongWritable> {
    private final long turn;

    LongWriter(KeyForm form, long turn) {
      super(form);
      this.turn = turn;
    }

    @Override
    public int write(LongWritable key, RecordBatch to) {
      to.putLong(key.get() ^ turn);
      return 8;
    }
  }

  private static final class ShortWriter extends KeyWriter<ShortWritable> {
    ShortWriter() {
      super(KeyForm.SIGNED);
    }

    @Override
    public int write(ShortWritable key, RecordBatch to) {
      to.putShort((short) (key.get() ^ Short.MIN_VALUE));
      return 2;
    }
  }

  private static final class ByteWriter extends KeyWriter<ByteWritable> {
    ByteWriter() {
      super(KeyForm.SIGNED);
    }

    @Override
    public int write(ByteWritable key, RecordBatch to) {
      to.putByte((byte) (key.get() ^ Byte.MIN_VALUE));
      return 1;
    }
  }

  private static final class BooleanWriter extends KeyWriter<BooleanWritable> {
    BooleanWriter() {
      super(KeyForm.SAME);
    }

    @Override
    public int write(BooleanWritable key, RecordBatch to) {
      to.putByte((byte) (key.get() ? 1 : 0));
      return 1;
    }
  }

  private static final class FloatWriter extends KeyWriter<FloatWritable> {
    FloatWriter() {
      super(KeyForm.FLOAT);
    }

    @Override
    public int write(FloatWritable key, RecordBatch to) {
      // Maps all NaNs to one value, as DataOutput.writeFloat does.
      int bits = Float.floatToIntBits(key.get());
      to.putInt(bits < 0 ? ~bits : bits ^ Integer.MIN_VALUE);
      return 4;
    }
  }

  private static final class DoubleWriter extends KeyWriter<DoubleWritable> {
    DoubleWriter() {
      super(KeyForm.FLOAT);
    }

    @Override
    public int write(DoubleWritable key, RecordBatch to) {
      long bits = Double.doubleToLongBits(key.get());
      to.putLong(bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
      return 8;
    }
  }

  private static final class HashWriter extends KeyWriter<MD5Hash> {
    HashWriter() {
      super(KeyForm.SAME);
    }

    @Override
    public int write(MD5Hash key, RecordBatch to) {
      to.put(key.getDigest(), 0, MD5Hash.MD5_LEN);
      return MD5Hash.MD5_LEN;
    }
  }

  private static final class NullWriter extends KeyWriter<NullWritable> {
    NullWriter() {
      super(KeyForm.SAME);
    }

    @Override
    public int write(NullWritable key, RecordBatch to) {
      return 0;
    }
  }

  private static final class VIntWriter extends KeyWriter<VIntWritable> {
    VIntWriter() {
      super(KeyForm.VINT);
    }

    @Override
    public int write(VIntWritable key, RecordBatch to) {
      to.putLong(key.get() ^ Long.MIN_VALUE);
      return WritableUtils.getVIntSize(key.get());
    }
  }

  private static final class VLongWriter extends KeyWriter<VLongWritable> {
    VLongWriter() {
      super(KeyForm.VINT);
    }

    @Override
    public int write(VLongWritable key, RecordBatch to) {
      to.putLong(key.get() ^ Long.MIN_VALUE);
      return WritableUtils.getVIntSize(key.get());
    }
  }

  /** Writer of user-defined keys: the key's own bytes precede the value. */
  private static final class CarriedWriter<K> extends KeyWriter<K> {
    private static final int LENGTH_BYTES = 4;

    private final KeyNormaliser<K> normaliser;
    private final Serializer<K> serializer;
    private K key;

    CarriedWriter(KeyNormaliser<K> normaliser, Serializer<K> serializer, KeyNormals<K> normals) {
      super(KeyForm.CARRIED, normals);
      this.normaliser = normaliser;
      this.serializer = serializer;
    }

    private RecordBatch opened;

    @Override
    public int write(K key, RecordBatch to) throws IOException {
      this.key = key;
      normaliser.normalise(key, to.data());
      // The length field is not in Hadoop's serialisation; writeCarried's bytes count the key itself.
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
