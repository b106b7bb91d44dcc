package org.yunti.hadoop.shuffle;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.util.Map;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin.Context;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;

/**
 * A shuffle without copies, for reduces on the machine of all their maps: native code merges the maps' files where they
 * are.
 */
final class LocalMapOutputs<K, V> {
  private final Context<K, V> context;
  private final NativeMergeManager<K, V> manager;

  LocalMapOutputs(Context<K, V> context, NativeMergeManager<K, V> manager) {
    this.context = context;
    this.manager = manager;
  }

  /** Returns the merged records, with the counters, phases and failures of Hadoop's own shuffle. */
  RawKeyValueIterator merge() throws IOException {
    try {
      return merged();
    } catch (Throwable e) {
      throw shuffleError(e);
    }
  }

  /** Returns the error that drivers and tests know; its constructor is not public. */
  private static IOException shuffleError(Throwable cause) {
    try {
      Constructor<? extends IOException> made =
          Shuffle.ShuffleError.class.getDeclaredConstructor(String.class, Throwable.class);
      made.setAccessible(true);
      return made.newInstance("Error while doing final merge ", cause);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return new IOException("Error while doing final merge ", cause);
    }
  }

  private RawKeyValueIterator merged() throws IOException, InterruptedException {
    int reduce = context.getReduceId().getTaskID().getId();
    for (Map.Entry<TaskAttemptID, MapOutputFile> map : context.getLocalMapFiles().entrySet()) {
      MapOutputFile files = map.getValue();
      IndexRecord part = new SpillRecord(files.getOutputIndexFile(), context.getJobConf()).getIndex(reduce);
      manager.add(map.getKey(), files.getOutputFile().toUri().getPath(), part);
      context.getShuffledMapsCounter().increment(1);
      context.getReduceShuffleBytes().increment(part.partLength);
      context.getReporter().progress();
    }
    context.getCopyPhase().complete();
    context.getStatus().setPhase(TaskStatus.Phase.SORT);
    context.getReduceTask().statusUpdate(context.getUmbilical());
    return manager.close();
  }
}
