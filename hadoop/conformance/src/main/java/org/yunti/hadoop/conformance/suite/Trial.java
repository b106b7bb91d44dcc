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

/** One run of one case on one side: its configuration and its folders. */
public final class Trial {
  private final Case owner;
  private final Configuration base;
  private final Map<String, String> settings;
  private final Path input;
  private final Path output;
  private final Scale scale;

  /**
   * @param base what a program finds on the class path; kept parsed, because parsing is half of a small job
   * @param settings of the runner and of the variant, without those of the case
   * @param scale of the input
   * @param input shared by both sides, so that SPLIT_RAW_BYTES (which counts path names) is the same
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

  /** A fresh configuration: the runner's, then the variant's, then the case's settings. */
  public Configuration conf() {
    Configuration conf = new Configuration(base);
    settings.forEach(conf::set);
    owner.settings().forEach(conf::set);
    return conf;
  }

  public FileSystem fileSystem() throws IOException {
    return input.getFileSystem(conf());
  }

  /** Applies what the case wants changed on a job that a generic body has built. */
  public Job tweaked(Job job) throws Exception {
    for (Case.Tweak tweak : owner.tweaks()) {
      tweak.apply(job);
    }
    return job;
  }

  /** Runs to the end. How the job ended is seen by the runner, which listens below the client. */
  public boolean submit(Job job) throws Exception {
    return job.waitForCompletion(false);
  }

  public void submit(JobConf job) throws IOException {
    JobClient.runJob(job);
  }

  /** The same for a program that ignores {@code -D}: settings come from a site file as well. */
  public void programOfSite(Class<?> mainClass, String... arguments) throws Exception {
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.putAll(owner.settings());
    try (SiteFile site = new SiteFile(all)) {
      assert Thread.currentThread().getContextClassLoader() == site;
      program(mainClass, arguments);
    }
  }

  /** Runs an unmodified program through its main method, settings as {@code -Dkey=value} in front. */
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
