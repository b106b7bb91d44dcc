package org.yunti.hadoop.conformance.suite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Job;

/** Configuration and folders of one run of one case on one side. */
public final class Trial {
  private final Case owner;
  private final Configuration base;
  private final Map<String, String> settings;
  private final Path input;
  private final Path output;
  private final Scale scale;

  /**
   * Creates the run.
   *
   * @param base the configuration on the class path; kept parsed, because parsing takes half of a small job
   * @param settings of the runner and of the variant, without those of the case
   * @param scale of the input
   * @param input shared by both sides, so that SPLIT_RAW_BYTES, which counts path names, is the same
   */
  public Trial(Case owner, Configuration base, Map<String, String> settings, Scale scale, Path input,
      Path output) {
    this.owner = owner;
    this.base = base;
    this.settings = settings;
    this.scale = scale;
    this.input = input;
    this.output = output;
  }

  public Scale scale() {
    return scale;
  }

  public Path input() {
    return input;
  }

  public Path input(String child) {
    return new Path(input, child);
  }

  public Path output() {
    return output;
  }

  public Path output(String child) {
    return new Path(output, child);
  }

  /** Returns a new configuration with the settings of the runner, the variant and the case, in this order. */
  public Configuration conf() {
    Configuration conf = new Configuration(base);
    settings.forEach(conf::set);
    owner.settings().forEach(conf::set);
    return conf;
  }

  public FileSystem fileSystem() throws IOException {
    return input.getFileSystem(conf());
  }

  /** Applies the case's changes to a job that a generic body has built. */
  public Job tweaked(Job job) throws Exception {
    for (Case.Tweak tweak : owner.tweaks()) {
      tweak.apply(job);
    }
    return job;
  }

  /** Runs a job to its end; the runner records its outcome below the client. */
  public boolean submit(Job job) throws Exception {
    return job.waitForCompletion(false);
  }

  public void submit(JobConf job) throws IOException {
    JobClient.runJob(job);
  }

  /** Runs a program that ignores {@code -D}: settings come from a site file as well. */
  public void programOfSite(Class<?> mainClass, String... arguments) throws Exception {
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.putAll(owner.settings());
    try (SiteFile site = new SiteFile(all)) {
      assert Thread.currentThread().getContextClassLoader() == site;
      program(mainClass, arguments);
    }
  }

  /** Runs an unmodified program through its main method, with settings as leading {@code -Dkey=value} arguments. */
  public void program(Class<?> mainClass, String... arguments) throws Exception {
    List<String> line = new ArrayList<>();
    settings.forEach((key, value) -> line.add("-D" + key + "=" + value));
    owner.settings().forEach((key, value) -> line.add("-D" + key + "=" + value));
    line.addAll(Arrays.asList(arguments));
    int status = ExitTrap.statusOf(mainClass, line.toArray(new String[0]));
    if (status != 0) {
      throw new IOException(mainClass.getSimpleName() + " ended with status " + status);
    }
  }
}
