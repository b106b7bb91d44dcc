package org.yunti.hadoop.shuffle;

import java.io.EOFException;
import java.io.IOError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.MapOutput;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleClientMetrics;

/**
 * Output of one map for this reduce task, copied unchanged from a fetcher to native code; it is not decompressed here.
 */
final class NativeSegment<K, V> extends MapOutput<K, V> {
  private static final int CHUNK_BYTES = 64 << 10;

  private final NativeMergeManager<K, V> manager;
  private final boolean onDisk;
  /** Bytes of the manager's memory that this segment reserves. */
  private long reserved;

  private long segment;

  NativeSegment(NativeMergeManager<K, V> manager, TaskAttemptID mapId, long size, boolean onDisk) {
    super(mapId, size, true);
    this.manager = manager;
    this.onDisk = onDisk;
    reserved = onDisk ? 0 : size;
  }

  @Override
  public void shuffle(
      MapHost host,
      InputStream input,
      long compressedLength,
      long decompressedLength,
      ShuffleClientMetrics metrics,
      Reporter reporter)
      throws IOException {
    try {
      take(input, compressedLength, metrics, reporter);
    } catch (FileSystemException | RuntimeException | LinkageError e) {
      // Other IOExceptions concern the sender or its data; Hadoop fetches again.
      throw localFailure(e);
    }
  }

  /**
   * Wraps a failure of this node (its disk, native code), for which the map is not to blame. Unlike an exception, an
   * error makes Hadoop's fetcher end this attempt instead of fetching again. Hadoop's own local file system does the
   * same.
   */
  private IOError localFailure(Throwable why) {
    return new IOError(manager.failed(why));
  }

  private void take(InputStream input, long compressedLength, ShuffleClientMetrics metrics, Reporter reporter)
      throws IOException {
    if (!onDisk) {
      manager.reserveMore(compressedLength - reserved);
      reserved = compressedLength;
    }
    long number = manager.number();
    segment = NativeReduceInput.begin(number, getMapId().toString(), compressedLength, onDisk);
    byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, Math.max(1, compressedLength))];
    long left = compressedLength;
    while (left > 0) {
      int n = input.read(chunk, 0, (int) Math.min(chunk.length, left));
      if (n < 0) {
        throw new EOFException("the output of " + getMapId() + " ends " + left + " bytes early");
      }
      NativeReduceInput.append(number, segment, chunk, n);
      left -= n;
      metrics.inputBytes(n);
      reporter.progress();
    }
    NativeReduceInput.seal(number, segment);
  }

  @Override
  public void commit() {
    try {
      NativeReduceInput.commit(manager.number(), segment);
    } catch (IOException | RuntimeException | LinkageError e) {
      throw localFailure(e);
    }
    manager.committed(reserved);
  }

  @Override
  public void abort() {
    if (segment != 0) {
      try {
        NativeReduceInput.abort(manager.number(), segment);
      } catch (IOException | RuntimeException | LinkageError e) {
        throw localFailure(e);
      }
    }
    manager.aborted(getSize(), reserved);
    reserved = 0;
  }

  @Override
  public String getDescription() {
    return onDisk ? "NATIVE DISK" : "NATIVE MEMORY";
  }
}
