package org.yunti.hadoop.key;

import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.serializer.Deserializer;
import org.yunti.hadoop.collect.RecordBatch;

/**
 * A job's {@link KeyNormaliser} for the keys of a reduce, which arrive as bytes (key_normals.rs). A call takes the keys
 * of one block of a map's output, laid out as for {@link KeyComparator}.
 */
public final class KeyNormals<K> extends KeyCode {
  private static final int BATCH_BYTES = 64 << 10;

  private final KeyNormaliser<K> normaliser;
  private final Deserializer<K> deserializer;
  private final DataInputBuffer in = new DataInputBuffer();
  private final RecordBatch out = new RecordBatch(BATCH_BYTES);
  private K key;
  private boolean isOpen;

  KeyNormals(KeyNormaliser<K> normaliser, Deserializer<K> deserializer) {
    this.normaliser = normaliser;
    this.deserializer = deserializer;
  }

  /**
   * Returns the normal forms of the keys, and sets {@code ends} to theirs. Native code calls it, also from the thread
   * that merges while others fetch.
   */
  synchronized byte[] normalise(byte[] keys, int[] ends) throws IOException {
    enter();
    try {
      if (!isOpen) {
        deserializer.open(in);
        isOpen = true;
      }
      int start = 0;
      for (int i = 0; i < ends.length; i++) {
        in.reset(keys, start, ends[i] - start);
        start = ends[i];
        key = deserializer.deserialize(key);
        normaliser.normalise(key, out.data());
        ends[i] = out.position();
      }
      return java.util.Arrays.copyOf(out.bytes(), out.position());
    } catch (IOException | RuntimeException | Error e) {
      failed(e);
      throw e;
    } finally {
      out.shrink(BATCH_BYTES);
    }
  }
}
