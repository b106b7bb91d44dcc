package org.yunti.hadoop.runner.load;

import java.net.MalformedURLException;
import java.net.URL;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.yunti.hadoop.runner.RunnerSettings;

/**
 * Jars and directories of the program's own class path that hold classes which the job's settings name. A program that
 * was not started by {@code hadoop jar} has its mappers there.
 */
final class UserCode {
  private static final Pattern CLASS_NAME = Pattern.compile("(?:\\w+\\.)*[A-Z_][\\w$]*");
  /** One class of each jar that tasks share with the framework. */
  private static final String[] FRAMEWORK = {
    "org/apache/hadoop/conf/Configuration.class", "org/apache/hadoop/mapreduce/Mapper.class",
    "org/apache/hadoop/mapred/LocalJobRunner.class", "org/apache/hadoop/hdfs/DistributedFileSystem.class",
    "org/yunti/hadoop/runner/load/UserCode.class"
  };

  /** First part of the names of settings of file systems. */
  private static final String OF_FILE_SYSTEMS = "fs.";
  /** Package of Hadoop's file systems, with their committers. */
  private static final String FILE_SYSTEMS = "org.apache.hadoop.fs.";

  private UserCode() {}

  /** Returns the class names among the values of settings that neither Hadoop nor its cluster sets. */
  static Set<String> names(Configuration conf) {
    return names(conf, "");
  }

  private static Set<String> names(Configuration conf, String prefix) {
    Set<String> names = new LinkedHashSet<>();
    for (Map.Entry<String, String> setting : conf) {
      String key = setting.getKey();
      if (!key.startsWith(prefix) || RunnerSettings.isFrom(conf, key, "-default.xml")
          || RunnerSettings.isFrom(conf, key, "-site.xml")) {
        continue;
      }
      for (String name : setting.getValue().split("[,;]")) {
        if (CLASS_NAME.matcher(name).matches()) {
          names.add(name);
        }
      }
    }
    return names;
  }

  /**
   * Returns the places of classes that a loader finds, without the framework's own. A jar of file systems alone is not
   * among them: one object of a file system serves all tasks, and committers check its class.
   */
  static Set<URL> find(Configuration conf, Set<String> names, ClassLoader loader) {
    Set<String> shared = new LinkedHashSet<>();
    for (String resource : FRAMEWORK) {
      shared.add(String.valueOf(place(resource, loader)));
    }
    Set<String> fileSystems = names(conf, OF_FILE_SYSTEMS);
    Set<URL> found = new LinkedHashSet<>();
    for (String name : names) {
      if (name.startsWith(FILE_SYSTEMS) || fileSystems.contains(name)) {
        continue;
      }
      URL place = place(name.replace('.', '/') + ".class", loader);
      if (place != null && !shared.contains(place.toString())) {
        found.add(place);
      }
    }
    return found;
  }

  /** Returns the jar or directory of a resource, or null if it has none of this machine. */
  private static URL place(String resource, ClassLoader loader) {
    URL url = loader.getResource(resource);
    if (url == null) {
      return null;
    }
    String text = url.toString();
    try {
      if (text.startsWith("jar:file:")) {
        return new URL(text.substring("jar:".length(), text.indexOf("!/")));
      }
      return text.startsWith("file:") ? new URL(text.substring(0, text.length() - resource.length())) : null;
    } catch (MalformedURLException e) {
      return null;
    }
  }
}
