package org.yunti.hadoop.conformance.broken;

import java.io.IOException;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.MapTask.MapOutputBuffer;
import org.apache.hadoop.mapred.Reporter;

/** The stock collector with one small fault each: what the suite is there to find. */
public abstract class BrokenCollector extends MapOutputBuffer<Object, Object> {
  /** The place of the fault: one record in the middle of each map. */
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
      // Lost.
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

  /** Holds on to the objects of the mapper, which the mapper uses again. */
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

  /** Right, but counts one of the task counters twice. */
  public static final class Miscounts extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
      reporter.incrCounter(org.apache.hadoop.mapreduce.TaskCounter.MAP_OUTPUT_RECORDS, 1);
    }
  }

  /** Takes any class for the one that the job has declared. */
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

  /** Right, and says so. */
  public static final class Honest extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
      reporter.incrCounter("Yunti", "native", 1);
    }
  }

  /** Right, because it is stock Hadoop, and says why. */
  public static final class Declines extends BrokenCollector {
    @Override
    void collectWrongly(Object key, Object value, int partition) throws IOException {
      collectWell(key, value, partition);
      reporter.incrCounter("Yunti", "declined: key type without normaliser", 1);
    }
  }
}
