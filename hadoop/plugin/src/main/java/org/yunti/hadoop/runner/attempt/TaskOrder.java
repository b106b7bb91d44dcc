package org.yunti.hadoop.runner.attempt;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;

/** Description of an attempt, beside the job's settings; another JVM can read it. */
public final class TaskOrder implements Writable {
  private TaskAttemptID id = new TaskAttemptID();
  private String jobFile;
  private String localDirectories;
  /** Null for a reduce. */
  private TaskSplitIndex split;
  /** Local directories of each map, by its attempt; empty for a map. */
  private final Map<TaskAttemptID, String> mapDirectories = new LinkedHashMap<>();
  /** Null if the attempt skips no bad records. */
  private long[] bad;

  public TaskOrder() {}

  /**
   * Makes an order.
   *
   * @param split null for a reduce
   * @param mapDirectories local directories of each map, by its attempt; empty for a map
   * @param bad numbers of the records that the attempt leaves out, ascending; null if it does not look for bad ones
   */
  public TaskOrder(TaskAttemptID id, String jobFile, String localDirectories, TaskSplitIndex split,
      Map<TaskAttemptID, String> mapDirectories, long[] bad) {
    this.id = id;
    this.jobFile = jobFile;
    this.localDirectories = localDirectories;
    this.split = split;
    this.mapDirectories.putAll(mapDirectories);
    this.bad = bad;
  }

  public TaskAttemptID id() {
    return id;
  }

  public String jobFile() {
    return jobFile;
  }

  public String localDirectories() {
    return localDirectories;
  }

  public TaskSplitIndex split() {
    return split;
  }

  public Map<TaskAttemptID, String> mapDirectories() {
    return mapDirectories;
  }

  /** Returns a new account of the records that the attempt leaves out; null if it does not look for bad ones. */
  public BadRecords bad(LongConsumer watcher) {
    return bad == null ? null : new BadRecords(bad, watcher);
  }

  @Override
  public void write(DataOutput to) throws IOException {
    id.write(to);
    Text.writeString(to, jobFile);
    Text.writeString(to, localDirectories);
    to.writeBoolean(split != null);
    if (split != null) {
      split.write(to);
    }
    to.writeInt(mapDirectories.size());
    for (Map.Entry<TaskAttemptID, String> map : mapDirectories.entrySet()) {
      map.getKey().write(to);
      Text.writeString(to, map.getValue());
    }
    to.writeInt(bad == null ? -1 : bad.length);
    for (int i = 0; bad != null && i < bad.length; i++) {
      to.writeLong(bad[i]);
    }
  }

  @Override
  public void readFields(DataInput from) throws IOException {
    id = new TaskAttemptID();
    id.readFields(from);
    jobFile = Text.readString(from);
    localDirectories = Text.readString(from);
    split = null;
    if (from.readBoolean()) {
      split = new TaskSplitIndex();
      split.readFields(from);
    }
    mapDirectories.clear();
    for (int left = from.readInt(); left > 0; left--) {
      TaskAttemptID map = new TaskAttemptID();
      map.readFields(from);
      mapDirectories.put(map, Text.readString(from));
    }
    int count = from.readInt();
    bad = count < 0 ? null : new long[count];
    for (int i = 0; i < count; i++) {
      bad[i] = from.readLong();
    }
  }
}
