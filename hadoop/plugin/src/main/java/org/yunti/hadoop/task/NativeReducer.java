package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapreduce.Reducer;
import org.yunti.hadoop.shuffle.NativeMergeManager;

/** Reduce task that is native from the merged map outputs to its output file or to a Java writer. */
public final class NativeReducer extends Reducer<BytesWritable, BytesWritable, Object, Object> {
  @Override
  public void run(Context context) throws IOException, InterruptedException {
    NativeMergeManager<?, ?> input = NativeMergeManager.of(context.getTaskAttemptID());
    Configuration conf = context.getConfiguration();
    String[] counters;
    try (TaskFiles files = new TaskFiles(conf, context)) {
      counters =
          NativeTask.reduce(
              NativeJob.of(conf),
              NativeJob.facts(context),
              files,
              input.number(),
              context.getTaskAttemptID().getTaskID().getId(),
              NativeJob.reduceMemoryBytes(input.memoryBytes()),
              input.directories(),
              NativeJob.output(context, files));
    }
    NativeTask.count(counters, 0, context);
  }
}
