package org.apache.hadoop.hive.ql.io;

import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.WritableComparator;

/** Key of Hive 4.0.1 in its serialised form and order, for tests: Hive's own jar has 83 MB. */
public class HiveKey extends BytesWritable {
  static {
    WritableComparator.define(HiveKey.class, new Comparator());
  }

  public HiveKey() {}

  public HiveKey(byte[] bytes) {
    super(bytes);
  }

  /** Comparator of the bytes behind the length. */
  public static class Comparator extends WritableComparator {
    public Comparator() {
      super(HiveKey.class);
    }

    @Override
    public int compare(byte[] a, int startA, int lengthA, byte[] b, int startB, int lengthB) {
      return compareBytes(a, startA + 4, lengthA - 4, b, startB + 4, lengthB - 4);
    }
  }
}
