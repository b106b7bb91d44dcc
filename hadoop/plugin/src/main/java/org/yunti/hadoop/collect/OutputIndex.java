package org.yunti.hadoop.collect;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapreduce.TaskCounter;

/**
 * Map output file that native code writes, and its index, which Hadoop writes. Both are where a ShuffleHandler expects
 * them.
 */
public final class OutputIndex {
  /** Group-readable, because the ShuffleHandler runs as another user. */
  private static final FsPermission PERMISSION = new FsPermission((short) 0640);

  private final JobConf job;
  private final int partitions;
  private final Path output;
  private final Path index;

  /** Chooses a local disk with room for about {@code expectedBytes}. */
  public OutputIndex(JobConf job, MapOutputFile files, long expectedBytes) throws IOException {
    this.job = job;
    partitions = job.getNumReduceTasks();
    output = files.getOutputFileForWrite(expectedBytes + partitions * 150L);
    index = files.getOutputIndexFileForWrite(partitions * (long) MapTask.MAP_OUTPUT_INDEX_RECORD_LENGTH);
    new File(file()).getParentFile().mkdirs();
  }

  /** Returns the path of the map output file. */
  public String file() {
    return output.toUri().getPath();
  }

  /**
   * Writes the index. From {@code at} on, {@code numbers} has start, raw length and file length of each partition, in
   * bytes.
   */
  public void write(long[] numbers, int at, Reporter reporter) throws IOException {
    SpillRecord segments = new SpillRecord(partitions);
    for (int p = 0; p < partitions; p++, at += 3) {
      segments.putIndex(new IndexRecord(numbers[at], numbers[at + 1], numbers[at + 2]), p);
    }
    segments.writeToFile(index, job);
    FileSystem local = FileSystem.getLocal(job).getRaw();
    reporter.getCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES).increment(local.getFileStatus(output).getLen());
    if (!PERMISSION.equals(PERMISSION.applyUMask(FsPermission.getUMask(job)))) {
      local.setPermission(output, PERMISSION);
      local.setPermission(index, PERMISSION);
    }
  }
}
