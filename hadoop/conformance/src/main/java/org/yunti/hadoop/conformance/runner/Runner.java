package org.yunti.hadoop.conformance.runner;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.util.ConfigUtil;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Trial;

/** Runs one case on one side and collects what came of it. */
public final class Runner implements AutoCloseable {
  private final Configuration base;
  private final Map<String, String> settings;
  private final Path work;
  private final TaskFailures failures = TaskFailures.listening();

  /** @param work a folder for all files of the runs */
  public Runner(Map<String, String> settings, Path work) {
    ConfigUtil.loadResources(); // Each default resource that comes later throws away what is parsed.
    this.base = new Configuration();
    this.settings = settings;
    this.work = work;
  }

  /** Writes the input that both sides read. */
  public void prepare(Case testCase) throws Exception {
    Trial trial = trial(testCase, Map.of(), "input");
    for (Case.Input input : testCase.inputs()) {
      input.write(trial);
    }
  }

  /**
   * @param body which of the case's programs
   * @param overlay settings of the variant
   * @param side name of the folder for the output; of equal length on both sides, because the lengths of path
   *     names are counted in places
   */
  public Outcome run(Case testCase, Case.Body body, Map<String, String> overlay, String side)
      throws IOException, InterruptedException {
    Trial trial = trial(testCase, overlay, side);
    JobRecorder.start(base);
    PrintStream terminal = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    String error = null;
    try {
      body.run(trial);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception | LinkageError e) {
      error = e.toString();
    } finally {
      System.setOut(terminal);
    }
    List<Outcome.JobResult> jobs = JobRecorder.results(failures);
    // That a job failed is said better by the job than by its client.
    boolean jobFailed = jobs.stream().anyMatch(job -> !job.succeeded());
    return new Outcome(jobFailed ? null : error, jobs,
        OutputFiles.read(trial.output(), testCase.order(), trial.conf()),
        linesOf(printed.toString(StandardCharsets.UTF_8), testCase.printed()));
  }

  public void delete(Case testCase) throws IOException {
    Path folder = folder(testCase);
    folder.getFileSystem(configuration()).delete(folder, true);
  }

  public Configuration configuration() {
    Configuration conf = new Configuration(base);
    settings.forEach(conf::set);
    return conf;
  }

  @Override
  public void close() {
    failures.close();
  }

  private Path folder(Case testCase) {
    return new Path(work, "cases/" + testCase.name().replace('/', '-'));
  }

  private Trial trial(Case testCase, Map<String, String> overlay, String side) {
    Map<String, String> all = new LinkedHashMap<>(settings);
    all.putAll(overlay);
    return new Trial(testCase, base, all, new Path(folder(testCase), "in"), new Path(folder(testCase), side));
  }

  private static List<String> linesOf(String text, Pattern wanted) {
    return wanted == null ? List.of() : text.lines().filter(line -> wanted.matcher(line).find()).toList();
  }
}
