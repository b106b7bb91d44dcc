package org.yunti.hadoop.conformance.broken;

import java.io.IOException;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.MapTask.MapOutputBuffer;
import org.apache.hadoop.mapred.Reporter;

/** Stock collector with one small fault per subclass, which the suite must find. */
public abstract class BrokenCollector extends MapOutputBuffer<Object, Object> {
  /** Number of the faulty record, in the middle of each map. */
  private static final int FAULTY_RECORD = 300;

  private int records;
  protected Reporter reporter;

  @Override
  public void init(Context context) throws IOException, ClassNotFoundException {
    super.init(context);
    reporter = context.getReporter();
  }

  @Override
  public synchronized void collect(Object key, Object value, int partition) throws IOException {
    if (records++ == FAULTY_RECORD) {
      collectWrongly(key, value, partition);
    } else {
      super.collect(key, value, partition);
    }
  }

  protected void collectWell(Object key, Object value, int partition) throws IOException {
    super.collect(key, value, partition);
  }

  abstract void collectWrongly(Object key, Object value, int partition) throws IOException;

  /** Loses a record. */
  public static final class Drops extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) {
      // Drops the record.
    }
  }

  /** Writes a record twice. */
  public static final class Repeats extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
      collectWell(key, value, partition);
    }
  }

  /** Changes one bit of one value; all counters stay right. */
  public static final class ChangesValue extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      Object wrong = value;
      if (value instanceof IntWritable number) {
        wrong = new IntWritable(number.get() ^ 1);
      } else if (value instanceof BytesWritable bytes) {
        byte[] copy = bytes.copyBytes();
        if (copy.length > 0) {
          copy[copy.length - 1] ^= 1;
        } else {
          copy = new byte[] {0};
        }
        wrong = new BytesWritable(copy);
      }
      collectWell(key, wrong, partition);
    }
  }

  /** Gives a record to the neighbour's partition. */
  public static final class Misplaces extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition == 0 ? 1 : partition - 1);
    }
  }

  /** Keeps references to the mapper's objects, which the mapper reuses. */
  public static final class KeepsReferences extends BrokenCollector {
    private Object keptKey;
    private Object keptValue;
    private int keptPartition;

    @Override
    public synchronized void collect(Object key, Object value, int partition) throws IOException {
      flushKept();
      keptKey = key;
      keptValue = value;
      keptPartition = partition;
    }

    @Override
    public void flush() throws IOException, ClassNotFoundException, InterruptedException {
      flushKept();
      super.flush();
    }

    private void flushKept() throws IOException {
      if (keptKey != null) {
        collectWell(keptKey, keptValue, keptPartition);
        keptKey = null;
      }
    }

    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
    }
  }

  /** Collects correctly, but counts one of the task counters twice. */
  public static final class Miscounts extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
      reporter.incrCounter(org.apache.hadoop.mapreduce.TaskCounter.MAP_OUTPUT_RECORDS, 1);
    }
  }

  /** Accepts any class instead of the declared one. */
  public static final class Unchecked extends BrokenCollector {
    @Override
    public synchronized void collect(Object key, Object value, int partition) throws IOException {
      super.collect(key instanceof BytesWritable bytes ? new Text(bytes.copyBytes()) : key, value, partition);
    }

    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
    }
  }

  /** Collects correctly and reports native. */
  public static final class Honest extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
      reporter.incrCounter("Yunti", "native", 1);
    }
  }

  /** Collects with stock Hadoop and reports the reason. */
  public static final class Declines extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
      reporter.incrCounter("Yunti", "declined: key type without normaliser", 1);
    }
  }
}
