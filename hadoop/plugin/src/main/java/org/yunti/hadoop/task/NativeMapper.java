package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.MapOutputFile;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.yunti.hadoop.LocalDirectories;
import org.yunti.hadoop.NativeLibrary;
import org.yunti.hadoop.Verdict;
import org.yunti.hadoop.collect.CodecSetting;
import org.yunti.hadoop.collect.OutputIndex;
import org.yunti.hadoop.report.TaskTime;

/** Map task that is native up to its map output. It reads its split natively or takes the records of a Java reader. */
public final class NativeMapper extends Mapper<Object, Object, Object, Object> {
  /** Range [start, end) of a file; {@code number} is the index of the source that the file belongs to. */
  private static final class Source {
    final String path;
    final long start;
    final long end;
    final int number;

    Source(String path, long start, long end, int number) {
      this.path = path;
      this.start = start;
      this.end = end;
      this.number = number;
    }
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    Configuration conf = context.getConfiguration();
    NativeLibrary.load();
    // Used in a job without reduces; otherwise the collector counts.
    TaskTime time = new TaskTime(name -> context.getCounter(TaskTime.COUNTERS, name), conf);
    try (TaskFiles files = new TaskFiles(conf, context)) {
      Source source = source(context, files);
      if (context.getNumReduceTasks() == 0) {
        Verdict.nativeCode(context, "all of " + context.getTaskAttemptID());
        time.lap(TaskTime.Stage.JVM_START);
        NativeTask.count(
            NativeTask.mapToFile(
                NativeJob.of(conf),
                NativeJob.facts(context),
                files,
                source.path,
                source.start,
                source.end,
                source.number,
                number(context),
                memoryBytes(conf, source),
                NativeJob.output(context, files)),
            0,
            context);
      } else {
        collect(context, files, source);
      }
    }
    if (context.getNumReduceTasks() == 0) {
      time.end();
    }
  }

  private static long memoryBytes(Configuration conf, Source source) throws IOException {
    return NativeJob.mapMemoryBytes(conf, NativeTask.compressed(source.path));
  }

  private static int number(Context context) {
    return context.getTaskAttemptID().getTaskID().getId();
  }

  private static Source source(Context context, TaskFiles files) throws IOException, InterruptedException {
    InputSplit split = context.getInputSplit();
    if (NativeJob.readsNatively(context)) {
      FileSplit file = (FileSplit) split;
      return new Source(file.getPath().toString(), file.getStart(), file.getStart() + file.getLength(), SourceSplit.source(split));
    }
    long length = Math.max(1, split.getLength());
    return new Source(files.input("records", length, () -> RecordSource.of(context)), 0, length, 0);
  }

  private static void collect(Context context, TaskFiles hadoop, Source source) throws IOException {
    NativeTaskCollector<?, ?> collector = NativeTaskCollector.of(context.getTaskAttemptID());
    MapOutputFile files = collector.task.getMapOutputFile();
    OutputIndex output = new OutputIndex(collector.job, files, source.end - source.start);
    CodecSetting codec = CodecSetting.of(collector.job);
    String[] done =
        NativeTask.map(
            NativeJob.of(collector.job),
            NativeJob.facts(context),
            hadoop,
            source.path,
            source.start,
            source.end,
            source.number,
            number(context),
            memoryBytes(collector.job, source),
            LocalDirectories.of(collector.job, i -> files.getSpillFileForWrite(i, 1)),
            codec.number(),
            codec.level(),
            codec.bufferBytes(),
            collector.job.get(NativeJob.BOUNDS),
            output.file());
    output.write(Arrays.stream(done[0].split(" ")).mapToLong(Long::parseLong).toArray(), 0, collector.reporter);
    NativeTask.count(done, 1, context);
  }
}
