package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.yunti.hadoop.LocalDirectories;
import org.yunti.hadoop.collect.CodecSetting;
import org.yunti.hadoop.collect.OutputIndex;

/** A map task that is native from reading its split to writing the map output. */
public final class NativeMapper extends Mapper<NullWritable, NullWritable, BytesWritable, BytesWritable> {
  @Override
  public void run(Context context) throws IOException, InterruptedException {
    NativeTaskCollector<?, ?> collector = NativeTaskCollector.of(context.getTaskAttemptID());
    FileSplit split = (FileSplit) context.getInputSplit();
    MapOutputFile files = collector.task.getMapOutputFile();
    OutputIndex output = new OutputIndex(collector.job, files, split.getLength());
    CodecSetting codec = CodecSetting.of(collector.job);
    String[] done;
    try (TaskFiles hadoop = new TaskFiles(collector.job, collector.reporter)) {
      done =
          NativeTask.map(
              NativeJob.of(collector.job),
              hadoop,
              split.getPath().toString(),
              split.getStart(),
              split.getStart() + split.getLength(),
              context.getTaskAttemptID().getTaskID().getId(),
              NativeJob.mapMemoryBytes(collector.job),
              LocalDirectories.of(collector.job, i -> files.getSpillFileForWrite(i, 1)),
              codec.number(),
              codec.level(),
              codec.bufferBytes(),
              collector.job.get(NativeJob.BOUNDS),
              output.file());
    }
    output.write(Arrays.stream(done[0].split(" ")).mapToLong(Long::parseLong).toArray(), 0, collector.reporter);
    NativeTask.count(done, 1, collector.reporter);
  }
}
