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
import org.yunti.hadoop.conformance.cpu.CpuClock;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Scale;
import org.yunti.hadoop.conformance.suite.Trial;

/** Runs one case on one side and collects its outcome. */
public final class Runner implements AutoCloseable {
  private static final String TIMED = "t";

  private final Configuration base;
  private final Map<String, String> settings;
  private final Path work;
  private Scale scale = Scale.NONE;
  private final TaskFailures failures = TaskFailures.listening();

  /** @param work a folder for all files of the runs */
  public Runner(Map<String, String> settings, Path work) {
    ConfigUtil.loadResources(); // A default resource added later discards the parsed ones.
    this.base = new Configuration();
    this.settings = settings;
    this.work = work;
  }

  /**
   * Processor time of one run.
   *
   * @param error of the program or of a job, or null
   */
  public record Timed(CpuClock.Reading taken, List<Outcome.JobResult> jobs, String error) {}

  /** Writes the input that both sides read. */
  public void prepare(Case testCase) throws Exception {
    prepare(testCase, Scale.NONE);
  }

  /** Writes an enlarged input; later runs use the scale too. */
  public void prepare(Case testCase, Scale newScale) throws Exception {
    scale = newScale;
    Trial trial = trial(testCase, Map.of(), "input");
    for (Case.Input input : testCase.inputs()) {
      input.write(trial);
    }
  }

  /**
   * Runs one side of a case.
   *
   * @param body the program of the case to run
   * @param overlay settings of the variant
   * @param side name of the output folder; equally long on both sides, because some counters include path lengths
   */
  public Outcome run(Case testCase, Case.Body body, Map<String, String> overlay, String side)
      throws IOException, InterruptedException {
    Trial trial = trial(testCase, overlay, side);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    String error = body(body, trial, printed);
    List<Outcome.JobResult> jobs = JobRecorder.results(failures);
    // The job's own failure is more precise than its client's.
    boolean jobFailed = jobs.stream().anyMatch(job -> !job.succeeded());
    return new Outcome(jobFailed ? null : error, jobs,
        OutputFiles.read(trial.output(), testCase.order(), trial.conf()),
        linesOf(printed.toString(StandardCharsets.UTF_8), testCase.printed()));
  }

  /** Runs the jobs for their processor time alone; the output is not read. */
  public Timed time(Case testCase, Map<String, String> overlay, CpuClock clock) throws IOException, InterruptedException {
    Trial trial = trial(testCase, overlay, TIMED);
    CpuClock.Reading before = clock.read();
    String error = body(testCase.body(), trial, new ByteArrayOutputStream());
    CpuClock.Reading taken = clock.read().since(before);
    List<Outcome.JobResult> jobs = JobRecorder.results(failures);
    Outcome outcome = new Outcome(error, jobs, Map.of(), List.of());
    return new Timed(taken, jobs, outcome.failed() ? outcome.ending() : null);
  }

  /** Deletes the output of {@link #time}. */
  public void deleteOutput(Case testCase) throws IOException {
    delete(testCase, TIMED);
  }

  /** Deletes the output of one side. */
  public void delete(Case testCase, String side) throws IOException {
    Path output = new Path(folder(testCase), side);
    output.getFileSystem(configuration()).delete(output, true);
  }

  /** @return the error of the program itself, or null */
  private String body(Case.Body body, Trial trial, ByteArrayOutputStream printed) throws IOException, InterruptedException {
    JobRecorder.start(base);
    PrintStream terminal = System.out;
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      body.run(trial);
      return null;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception | LinkageError e) {
      return e.toString();
    } finally {
      System.setOut(terminal);
    }
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
    return new Trial(testCase, base, all, scale, new Path(folder(testCase), "in"), new Path(folder(testCase), side));
  }

  private static List<String> linesOf(String text, Pattern wanted) {
    return wanted == null ? List.of() : text.lines().filter(line -> wanted.matcher(line).find()).toList();
  }
}
