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
 * A job whose tasks are native from reader to writer, submitted as {@code yunti run --on yarn} submits one: a job file and
 * the arguments of the plug-in's own submitter.
 */
public final class NativeJob {
  /** Names another submitter than the plug-in's: the suite's own test has some with faults. */
  public static final String SUBMITTER = "conformance.submitter";

  private static final String OF_PLUGIN = "org.yunti.hadoop.submit.SubmitJob";

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

  /** One more line of the job file. */
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

  /** What a writer of Java's is given, where it is not the usual class. */
  public NativeJob outputs(Class<?> key, Class<?> value) {
    return set("mapreduce.job.output.key.class", key.getName()).set("mapreduce.job.output.value.class", value.getName());
  }

  /** Its classes are those of the suite's library in C++. */
  NativeJob withLibrary() {
    return new NativeJob(lines, settings, true);
  }

  /** @throws IOException with what the submitter told, if it did not run the job to its end */
  void run(Trial trial, String inputFolder, int reduces) throws Exception {
    Configuration conf = trial.conf();
    settings.forEach(conf::set);
    Path file = Files.createTempFile("job", ".toml");
    try {
      Files.writeString(file, lines
          + (reduces == 0 ? "mode = \"none\"\n" : "reduces = " + reduces + "\n")
          // Beside a task, where nothing but its file name is left.
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
    Class<?> submitter = conf.getClassByName(conf.get(SUBMITTER, OF_PLUGIN));
    PrintStream terminal = System.err;
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    System.setErr(new PrintStream(told, true, StandardCharsets.UTF_8));
    int status;
    try {
      status = ToolRunner.run(conf, (Tool) ReflectionUtils.newInstance(submitter, conf), arguments);
    } finally {
      System.setErr(terminal);
    }
    if (status != 0) {
      throw new IOException("the submitter ended with status " + status + ": " + told.toString(StandardCharsets.UTF_8).strip());
    }
  }
}
