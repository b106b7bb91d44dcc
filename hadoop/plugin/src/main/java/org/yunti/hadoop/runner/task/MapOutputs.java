package org.yunti.hadoop.runner.task;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.yunti.hadoop.collect.NativeMapOutputCollector;
import org.yunti.hadoop.runner.attempt.AttemptReporter;

/** Collectors of map output: the job's own if it names some, else Yunti's with Hadoop's as the next one. */
final class MapOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(MapOutputs.class);
  private static final String COLLECTORS = MRJobConfig.MAP_OUTPUT_COLLECTOR_CLASS_ATTR;
  private static final Class<?>[] OURS = {NativeMapOutputCollector.class, MapTask.MapOutputBuffer.class};

  private MapOutputs() {}

  /** Returns the first collector that takes the task. */
  static <K, V> MapOutputCollector<K, V> create(MapTask task, JobConf job, AttemptReporter reporter)
      throws IOException {
    Exception last = null;
    Class<?>[] classes = isHadoopsDefault(job) ? OURS : job.getClasses(COLLECTORS, OURS);
    for (Class<?> found : classes) {
      try {
        if (!MapOutputCollector.class.isAssignableFrom(found)) {
          throw new IOException(found.getName() + " is no MapOutputCollector");
        }
        @SuppressWarnings("unchecked")
        MapOutputCollector<K, V> collector = (MapOutputCollector<K, V>) ReflectionUtils.newInstance(found, job);
        collector.init(new MapOutputCollector.Context(task, job, reporter));
        return collector;
      } catch (Exception e) {
        LOG.debug("{} declines {}", found.getName(), task.getTaskID(), e);
        last = e;
      }
    }
    // The words are Hadoop's.
    throw new IOException("Initialization of all the collectors failed. Error in last collector was:" + last, last);
  }

  private static boolean isHadoopsDefault(JobConf job) {
    String names = job.getTrimmed(COLLECTORS);
    return names == null || names.isEmpty() || names.equals(MapTask.MapOutputBuffer.class.getName());
  }
}
