package org.yunti.hadoop.runner.worker;

import java.io.File;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;

/**
 * Variables that a job sets for the JVMs of its maps or of its reduces, by the rules of a cluster.
 *
 * <pre>
 *   value in a setting     replaced by                                                 on a cluster, by
 *   $X                     X of this map, else of the program, else nothing            the job's master
 *   {{X}}                  X of the task's JVM: {{PWD}} is its working directory       the container's script
 * </pre>
 *
 * <p>A variable that is set again is appended, after a colon. The settings are {@code mapreduce.admin.user.env}, then
 * {@code mapreduce.map.env}, or {@code mapred.child.env} without it; values with commas need
 * {@code mapreduce.map.env.NAME}. Hadoop's own code for this is in YARN's jars, and differs among its versions.
 */
public final class TaskEnvironment {
  private static final String NAME = "([A-Za-z_][A-Za-z0-9_]*)";
  private static final Pattern PAIR = Pattern.compile("(?<=^|,)" + NAME + "=([^,]*)");
  private static final Pattern BEFORE = Pattern.compile("\\$" + NAME);
  private static final Pattern INSIDE = Pattern.compile("\\{\\{" + NAME + "}}");
  private static final String LIBRARIES = "LD_LIBRARY_PATH";
  private static final String DIRECTORY = "PWD";

  private final Map<String, String> program;
  private final Map<String, String> variables = new LinkedHashMap<>();

  /** @param program variables of the program */
  public TaskEnvironment(JobConf conf, TaskType type, Map<String, String> program) {
    this.program = program;
    // Libraries among the cache files can be loaded, as on a cluster.
    add(LIBRARIES, "{{" + DIRECTORY + "}}");
    if (!program.getOrDefault(LIBRARIES, "").isEmpty()) {
      add(LIBRARIES, program.get(LIBRARIES));
    }
    String key = type == TaskType.MAP ? JobConf.MAPRED_MAP_TASK_ENV : JobConf.MAPRED_REDUCE_TASK_ENV;
    read(conf, MRJobConfig.MAPRED_ADMIN_USER_ENV, "");
    read(conf, key, conf.get("mapred.child.env", ""));
  }

  private void read(JobConf conf, String key, String pairsDefault) {
    Map<String, String> pairs = new LinkedHashMap<>();
    Matcher pair = PAIR.matcher(conf.get(key, pairsDefault));
    while (pair.find()) {
      pairs.merge(pair.group(1), pair.group(2), TaskEnvironment::joined);
    }
    pairs.putAll(conf.getPropsWithPrefix(key + "."));
    for (Map.Entry<String, String> one : pairs.entrySet()) {
      add(one.getKey(), replaced(BEFORE, one.getValue(), name -> variables.getOrDefault(name, outside(name))));
    }
  }

  private void add(String name, String value) {
    variables.merge(name, value, TaskEnvironment::joined);
  }

  private static String joined(String first, String second) {
    return first + File.pathSeparator + second;
  }

  private String outside(String name) {
    return program.getOrDefault(name, "");
  }

  /** Returns the variables of a JVM in this working directory, beside those of the program. */
  Map<String, String> in(File directory) {
    Map<String, String> all = new HashMap<>();
    for (String name : variables.keySet()) {
      all.put(name, value(name, directory.getAbsolutePath(), new HashSet<>()));
    }
    return all;
  }

  /** @param open variables whose values are being made: one that refers to itself has the program's value there */
  private String value(String name, String directory, Set<String> open) {
    if (name.equals(DIRECTORY)) {
      return directory;
    }
    if (!variables.containsKey(name) || !open.add(name)) {
      return outside(name);
    }
    String value = replaced(INSIDE, variables.get(name), other -> value(other, directory, open));
    open.remove(name);
    return value;
  }

  private static String replaced(Pattern pattern, String text, UnaryOperator<String> values) {
    StringBuffer made = new StringBuffer();
    Matcher reference = pattern.matcher(text);
    while (reference.find()) {
      reference.appendReplacement(made, Matcher.quoteReplacement(values.apply(reference.group(1))));
    }
    return reference.appendTail(made).toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TaskEnvironment && ((TaskEnvironment) other).variables.equals(variables)
        && ((TaskEnvironment) other).program.equals(program);
  }

  @Override
  public int hashCode() {
    return variables.hashCode();
  }
}
