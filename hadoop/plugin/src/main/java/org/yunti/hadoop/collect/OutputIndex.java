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

/** A map output file that native code writes, and its index, which Hadoop writes: both as ShuffleHandlers look for them. */
public final class OutputIndex {
  /** Others than the owner may read map output: the ShuffleHandler is another user. */
  private static final FsPermission PERMISSION = new FsPermission((short) 0640);

  private final JobConf job;
  private final int partitions;
  private final Path output;
  private final Path index;

  /** Takes a place for about {@code expectedBytes}. */
  public OutputIndex(JobConf job, MapOutputFile files, long expectedBytes) throws IOException {
    this.job = job;
    partitions = job.getNumReduceTasks();
    output = files.getOutputFileForWrite(expectedBytes + partitions * 150L);
    index = files.getOutputIndexFileForWrite(partitions * (long) MapTask.MAP_OUTPUT_INDEX_RECORD_LENGTH);
    new File(file()).getParentFile().mkdirs();
  }

  /** The file that native code makes. */
  public String file() {
    return output.toUri().getPath();
  }

  /** Writes the index from start, raw length and length in the file of each partition, which begin at {@code at}. */
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
