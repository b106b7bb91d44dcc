package org.yunti.hadoop.conformance.suite;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Job whose tasks are native from reader to writer, submitted as {@code yunti run --on yarn} does: with a job file and
 * the arguments of the plug-in's submitter.
 */
public final class NativeJob {
  /** Property that names another submitter class; the suite's own test has faulty ones. */
  public static final String SUBMITTER = "conformance.submitter";

  private static final String PLUGIN_SUBMITTER = "org.yunti.hadoop.submit.SubmitJob";

  private final String lines;
  private final Map<String, String> settings;
  private final boolean library;

  private NativeJob(String lines, Map<String, String> settings, boolean library) {
    this.lines = lines;
    this.settings = settings;
    this.library = library;
  }

  /** @param lines of the job file: docs/formats/job-toml.md */
  public static NativeJob of(String... lines) {
    return new NativeJob("format = \"yunti-job/1\"\n" + String.join("\n", lines) + "\n", Map.of(), false);
  }

  /** Returns the job with one more line in its job file. */
  public NativeJob with(String line) {
    return new NativeJob(lines + line + "\n", settings, library);
  }

  public NativeJob set(String key, Object value) {
    Map<String, String> more = new LinkedHashMap<>(settings);
    more.put(key, String.valueOf(value));
    return new NativeJob(lines, more, library);
  }

  public NativeJob reader(Class<?> format) {
    return set("yunti.hadoop.input.format", format.getName());
  }

  public NativeJob writer(Class<?> format) {
    return set("yunti.hadoop.output.format", format.getName());
  }

  /** Returns the job with output classes for a Java writer, if they are not the usual ones. */
  public NativeJob outputs(Class<?> key, Class<?> value) {
    return set("mapreduce.job.output.key.class", key.getName()).set("mapreduce.job.output.value.class", value.getName());
  }

  /** Returns the job with the classes that its map output has in Java, if they are not the usual ones. */
  public NativeJob mapOutput(Class<?> key, Class<?> value) {
    return set("mapreduce.map.output.key.class", key.getName()).set("mapreduce.map.output.value.class", value.getName());
  }

  /** Returns the job with the classes of the suite's C++ library. */
  NativeJob withLibrary() {
    return new NativeJob(lines, settings, true);
  }

  /** @throws IOException with the submitter's output, if the job did not succeed */
  void run(Trial trial, String inputFolder, int reduces) throws Exception {
    Configuration conf = trial.conf();
    settings.forEach(conf::set);
    Path file = Files.createTempFile("job", ".toml");
    try {
      Files.writeString(file, lines
          + (reduces == 0 ? "mode = \"none\"\n" : "reduces = " + reduces + "\n")
          // Path in a task's directory, where only the file name remains.
          + (library ? "lib = \"./" + Library.path().getFileName() + "\"\n" : ""));
      List<String> arguments = new ArrayList<>(List.of("--job", file.toString(), "--name", "native",
          "--input", trial.input(inputFolder).toString(), "--output", trial.output("out").toString(),
          "--reduces", Integer.toString(reduces)));
      if (library) {
        arguments.addAll(List.of("--lib", Library.path().toString()));
      }
      submit(conf, arguments.toArray(new String[0]));
    } finally {
      Files.delete(file);
    }
  }

  private static void submit(Configuration conf, String[] arguments) throws Exception {
    Class<?> submitter = conf.getClassByName(conf.get(SUBMITTER, PLUGIN_SUBMITTER));
    PrintStream terminal = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    int status;
    try {
      status = ToolRunner.run(conf, (Tool) ReflectionUtils.newInstance(submitter, conf), arguments);
    } finally {
      System.setErr(terminal);
    }
    if (status != 0) {
      throw new IOException("the submitter ended with status " + status + ": " + printed.toString(StandardCharsets.UTF_8).strip());
    }
  }
}
