package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Reducer;
import org.yunti.hadoop.shuffle.NativeMergeManager;

/** A reduce task that is native from the merged map outputs to its output file. */
public final class NativeReducer extends Reducer<BytesWritable, BytesWritable, NullWritable, NullWritable> {
  @Override
  public void run(Context context) throws IOException, InterruptedException {
    NativeMergeManager<?, ?> input = NativeMergeManager.of(context.getTaskAttemptID());
    Reporter reporter = input.reporter();
    String[] counters;
    try (TaskFiles hadoop = new TaskFiles(context.getConfiguration(), reporter)) {
      counters =
          NativeTask.reduce(
              NativeJob.of(context.getConfiguration()),
              hadoop,
              input.number(),
              context.getTaskAttemptID().getTaskID().getId(),
              input.memoryBytes(),
              input.directories(),
              new NativeOutputFormat().file(context));
    }
    NativeTask.count(counters, 0, reporter);
  }
}
