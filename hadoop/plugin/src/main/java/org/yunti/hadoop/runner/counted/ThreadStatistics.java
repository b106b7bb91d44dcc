package org.yunti.hadoop.runner.counted;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem.Statistics.StatisticsData;
import org.apache.hadoop.fs.FileSystem.Statistics;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Bytes that the present thread read from the file systems of a scheme, or wrote to them.
 *
 * <p>Hadoop's own tasks sum up the statistics of all threads twice a record, under a lock. That is exact in a JVM with
 * one task; here other tasks run beside, and the sum takes longer than the record.
 */
public final class ThreadStatistics {
  private static final ThreadStatistics NONE = new ThreadStatistics(new ArrayList<Statistics>());

  private final List<Statistics> all;
  private final Thread owner = Thread.currentThread();
  private final StatisticsData[] ofOwner;

  private ThreadStatistics(List<Statistics> all) {
    this.all = all;
    ofOwner = new StatisticsData[all.size()];
    for (int i = 0; i < ofOwner.length; i++) {
      ofOwner[i] = all.get(i).getThreadStatistics();
    }
  }

  /** Returns the statistics of no file system, which are 0. */
  public static ThreadStatistics none() {
    return NONE;
  }

  /** Returns the statistics of the file systems that have the scheme of a path. */
  public static ThreadStatistics of(Path path, Configuration conf) throws IOException {
    String scheme = path.getFileSystem(conf).makeQualified(path).toUri().getScheme();
    List<Statistics> found = new ArrayList<>();
    for (Statistics statistics : registered()) {
      if (statistics.getScheme().equals(scheme)) {
        found.add(statistics);
      }
    }
    return new ThreadStatistics(found);
  }

  /** Returns the statistics of every scheme, by its name. */
  public static Map<String, ThreadStatistics> ofAll() {
    Map<String, List<Statistics>> found = new LinkedHashMap<>();
    for (Statistics statistics : registered()) {
      found.computeIfAbsent(statistics.getScheme(), scheme -> new ArrayList<>()).add(statistics);
    }
    Map<String, ThreadStatistics> result = new LinkedHashMap<>();
    for (Map.Entry<String, List<Statistics>> scheme : found.entrySet()) {
      result.put(scheme.getKey(), new ThreadStatistics(scheme.getValue()));
    }
    return result;
  }

  // The replacement, GlobalStorageStatistics, has no figures of a thread.
  @SuppressWarnings("deprecation")
  private static List<Statistics> registered() {
    return FileSystem.getAllStatistics();
  }

  public long bytesRead() {
    long bytes = 0;
    for (int i = 0; i < ofOwner.length; i++) {
      bytes += data(i).getBytesRead();
    }
    return bytes;
  }

  public long bytesWritten() {
    long bytes = 0;
    for (int i = 0; i < ofOwner.length; i++) {
      bytes += data(i).getBytesWritten();
    }
    return bytes;
  }

  /** Returns bytes read and written, and operations: read, large read, write. */
  public long[] snapshot() {
    long[] sum = new long[5];
    for (int i = 0; i < ofOwner.length; i++) {
      StatisticsData data = data(i);
      sum[0] += data.getBytesRead();
      sum[1] += data.getBytesWritten();
      sum[2] += data.getReadOps();
      sum[3] += data.getLargeReadOps();
      sum[4] += data.getWriteOps();
    }
    return sum;
  }

  private StatisticsData data(int number) {
    return Thread.currentThread() == owner ? ofOwner[number] : all.get(number).getThreadStatistics();
  }
}
