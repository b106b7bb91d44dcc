package org.yunti.hadoop.runner.worker;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TaskType;

/** Options and variables that a job sets for the JVMs of its maps or of its reduces. */
public final class WorkerSettings {
  private static final Pattern COLLECTOR = Pattern.compile("-XX:[+-]Use\\w*GC");
  /**
   * Options of the program's JVM that tasks need too: what it opens, where native libraries are, the archive of
   * classes, when to compile.
   */
  private static final Pattern INHERITED = Pattern.compile("--add-(opens|exports|modules|reads)=.*"
      + "|--enable-native-access=.*|-Djava\\.library\\.path=.*|-XX:SharedArchiveFile=.*|-Xlog:cds.*|-XX:Tier4.*");

  /** Options that a NodeManager adds if a job has {@link #OPENS}. */
  private static final List<String> CLUSTER_OPENS = Arrays.asList("--add-opens=java.base/java.lang=ALL-UNNAMED",
      "--add-exports=java.base/sun.net.dns=ALL-UNNAMED", "--add-exports=java.base/sun.net.util=ALL-UNNAMED");
  private static final int OPENS_JAVA_MIN = 17;
  /** Word in the options of Hadoop 3.4 that a NodeManager replaces by its own list, or by nothing before Java 17. */
  private static final String OPENS_VARIABLE = "<ADD_OPENS>";

  /** Setting of Hadoop 3.4 and later, by which the JVMs of tasks open parts of Java to reflection. */
  public static final String OPENS = "mapreduce.jvm.add-opens-as-default";

  private final List<String> options = new ArrayList<>();
  private final TaskEnvironment environment;

  public WorkerSettings(JobConf conf, TaskType type) {
    boolean choosesCollector = false;
    for (String option : conf.getTaskJavaOpts(type).trim().split("\\s+")) {
      if (!option.isEmpty() && !option.equals(OPENS_VARIABLE)) {
        options.add(option.replace("@taskid@", "worker"));
        choosesCollector |= COLLECTOR.matcher(option).matches();
      }
    }
    if (!choosesCollector) {
      options.add(0, "-XX:+UseSerialGC"); // A worker has one processor.
    }
    if (opensAsCluster(conf)) {
      options.addAll(0, CLUSTER_OPENS);
    }
    int first = 0;
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (INHERITED.matcher(option).matches()) {
        options.add(first++, option); // The job's own come later, and win.
      }
    }
    String log = System.getProperty("log4j.configuration");
    if (log != null) {
      options.add("-Dlog4j.configuration=" + log);
    }
    environment = new TaskEnvironment(conf, type, System.getenv());
  }

  /** Returns true if the JVMs of tasks open what a NodeManager's do: {@link #OPENS} is set, and Java is new enough. */
  public static boolean opensAsCluster(JobConf conf) {
    String version = System.getProperty("java.specification.version");
    return conf.getBoolean(OPENS, false) && !version.startsWith("1.") && Integer.parseInt(version) >= OPENS_JAVA_MIN;
  }

  /** Returns the options of a JVM in this working directory. */
  public List<String> options(File directory) {
    List<String> all = new ArrayList<>();
    all.add("-Djava.io.tmpdir=" + temporary(directory).getAbsolutePath());
    all.addAll(options);
    return all;
  }

  /** Returns the directory of a JVM's temporary files, in its working directory as on a cluster. */
  public static File temporary(File directory) {
    return new File(directory, "tmp");
  }

  public TaskEnvironment environment() {
    return environment;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkerSettings && ((WorkerSettings) other).options.equals(options)
        && ((WorkerSettings) other).environment.equals(environment);
  }

  @Override
  public int hashCode() {
    return options.hashCode();
  }
}
