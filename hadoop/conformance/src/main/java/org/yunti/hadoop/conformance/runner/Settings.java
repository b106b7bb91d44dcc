package org.yunti.hadoop.conformance.runner;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.util.ClassUtil;

/** The settings that every run starts from, below those of the variant and of the case. */
public final class Settings {
  /** What {@code -libjars} sets: jars that come to each task. */
  public static final String JARS = "tmpjars";

  private Settings() {}

  /** Everything in this JVM and below one folder. */
  public static Map<String, String> local(String workFolder) {
    Map<String, String> settings = common();
    settings.put("fs.defaultFS", "file:///");
    settings.put("fs.file.impl", ForklessFileSystem.class.getName());
    settings.put("mapreduce.framework.name", "local");
    settings.put("hadoop.tmp.dir", workFolder + "/tmp");
    // One task at a time: tasks that run together in one JVM share the statistics of the file system, and then
    // the byte counters of input and output formats are wrong in stock Hadoop itself.
    settings.put("mapreduce.local.map.tasks.maximum", "1");
    settings.put("mapreduce.local.reduce.tasks.maximum", "1");
    // A hundred cases at the default of 100 MB would spend their time on zeroing buffers.
    settings.put("mapreduce.task.io.sort.mb", "4");
    return settings;
  }

  /** What the configuration on the class path says. The tasks find our classes in our jar. */
  public static Map<String, String> cluster() {
    String jar = ClassUtil.findContainingJar(Settings.class);
    if (jar == null) {
      throw new IllegalStateException("a cluster needs the suite as a jar on the class path, not as a folder");
    }
    Map<String, String> settings = common();
    settings.put("mapreduce.job.jar", jar);
    // Also where a program names a jar of its own, and for jobs that use classes of the examples.
    settings.put(JARS, new File(jar).toURI() + "," + new File(ClassUtil.findContainingJar(WordCount.class)).toURI());
    return settings;
  }

  private static Map<String, String> common() {
    Map<String, String> settings = new LinkedHashMap<>();
    // The defaults of 5 s and 1 s would be most of the time of a short job.
    settings.put("mapreduce.client.completion.pollinterval", "10");
    settings.put("mapreduce.client.progressmonitor.pollinterval", "10");
    // Two attempts of one task count their records twice.
    settings.put("mapreduce.map.speculative", "false");
    settings.put("mapreduce.reduce.speculative", "false");
    return settings;
  }
}
