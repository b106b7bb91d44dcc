package org.yunti.hadoop.conformance.runner;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.util.ClassUtil;

/** Settings that every run starts from, below those of the variant and of the case. */
public final class Settings {
  /** Setting of {@code -libjars}: jars that are copied to each task. */
  public static final String JARS = "tmpjars";

  private Settings() {}

  /** Returns settings that keep everything in this JVM and below one folder. */
  public static Map<String, String> local(String workFolder) {
    Map<String, String> settings = common();
    settings.put("fs.defaultFS", "file:///");
    settings.put("fs.file.impl", ForklessFileSystem.class.getName());
    settings.put("mapreduce.framework.name", "local");
    settings.put("hadoop.tmp.dir", workFolder + "/tmp");
    // One task at a time: tasks of one JVM share the statistics of the file system, and stock Hadoop then counts wrong
    // bytes for input and output formats.
    settings.put("mapreduce.local.map.tasks.maximum", "1");
    settings.put("mapreduce.local.reduce.tasks.maximum", "1");
    // At the default of 100 MB, a hundred cases would mostly zero buffers.
    settings.put("mapreduce.task.io.sort.mb", "4");
    return settings;
  }

  /** Returns settings that keep the configuration on the class path. Tasks find the suite's classes in its jar. */
  public static Map<String, String> cluster() {
    String jar = ClassUtil.findContainingJar(Settings.class);
    if (jar == null) {
      throw new IllegalStateException("a cluster needs the suite as a jar on the class path, not as a folder");
    }
    Map<String, String> settings = common();
    settings.put("mapreduce.job.jar", jar);
    // Programs that name a jar of their own and jobs with classes of the examples need both too.
    settings.put(JARS, new File(jar).toURI() + "," + new File(ClassUtil.findContainingJar(WordCount.class)).toURI());
    return settings;
  }

  private static Map<String, String> common() {
    Map<String, String> settings = new LinkedHashMap<>();
    // The defaults of 5 s and 1 s would dominate the time of a short job.
    settings.put("mapreduce.client.completion.pollinterval", "10");
    settings.put("mapreduce.client.progressmonitor.pollinterval", "10");
    // Two attempts of one task would count their records twice.
    settings.put("mapreduce.map.speculative", "false");
    settings.put("mapreduce.reduce.speculative", "false");
    return settings;
  }
}
