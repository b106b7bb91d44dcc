package org.yunti.hadoop.runner.task;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.util.ReflectionUtils;
import org.yunti.hadoop.collect.NativeMapOutputCollector;

/** Map output of the new API: each record goes to the collector with its partition. */
final class PartitionedOutput<K, V> extends RecordWriter<K, V> {
  private final MapOutputCollector<K, V> collector;
  /** Null if there is one partition: user code is not asked then, as in Hadoop. */
  private final Partitioner<K, V> partitioner;

  private final int partitions;

  @SuppressWarnings("unchecked")
  PartitionedOutput(MapOutputCollector<K, V> collector, JobContext context, JobConf job) throws ClassNotFoundException {
    this.collector = collector;
    partitions = context.getNumReduceTasks();
    partitioner = partitions > 1
        ? (Partitioner<K, V>) ReflectionUtils.newInstance(context.getPartitionerClass(), job) : null;
  }

  @Override
  public void write(K key, V value) throws IOException, InterruptedException {
    collector.collect(key, value, partitioner == null ? 0 : partitioner.getPartition(key, value, partitions));
  }

  @Override
  public void close(TaskAttemptContext context) throws IOException, InterruptedException {
    try {
      collector.flush();
    } catch (ClassNotFoundException e) {
      throw new IOException("can't find class ", e);
    }
    collector.close();
  }

  /** Ends the output of an attempt that was killed. Hadoop's own collector has a thread, which only a flush ends. */
  void drop(TaskAttemptContext context) throws IOException, InterruptedException {
    if (collector instanceof NativeMapOutputCollector) {
      collector.close();
    } else {
      close(context);
    }
  }
}
