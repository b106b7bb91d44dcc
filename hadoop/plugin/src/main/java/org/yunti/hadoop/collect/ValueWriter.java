package org.yunti.hadoop.collect;

import java.io.IOException;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.JobConf;
import org.yunti.hadoop.Declined;

/** Writer of values in Hadoop's serialisation. The most common classes bypass streams. */
interface ValueWriter<V> {
  void write(V value, RecordBatch to) throws IOException;

  /** Returns the writer for a class. Throws {@link Declined} if the class has no serializer. */
  static <V> ValueWriter<V> find(JobConf job, Class<V> valueClass) throws IOException {
    if (valueClass == IntWritable.class) {
      return (value, batch) -> batch.putInt(((IntWritable) value).get());
    }
    if (valueClass == LongWritable.class) {
      return (value, batch) -> batch.putLong(((LongWritable) value).get());
    }
    if (valueClass == NullWritable.class) {
      return (value, batch) -> {};
    }
    if (valueClass == Text.class) {
      return (value, batch) -> {
        Text text = (Text) value;
        if (text.getLength() < 128) {
          batch.putByte((byte) text.getLength());
        } else {
          WritableUtils.writeVInt(batch.data(), text.getLength());
        }
        batch.put(text.getBytes(), 0, text.getLength());
      };
    }
    Serializer<V> serializer = new SerializationFactory(job).getSerializer(valueClass);
    if (serializer == null) {
      throw new Declined("no serializer for " + valueClass.getName());
    }
    return new ValueWriter<V>() {
      private RecordBatch opened;

      @Override
      public void write(V value, RecordBatch to) throws IOException {
        if (opened != to) {
          serializer.open(to.data());
          opened = to;
        }
        serializer.serialize(value);
      }
    };
  }
}
