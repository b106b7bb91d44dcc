package org.yunti.hadoop.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yunti.hadoop.conformance.broken.BrokenCollector;
import org.yunti.hadoop.conformance.broken.BrokenSort;
import org.yunti.hadoop.conformance.broken.BrokenTasks;

/** Test of the suite itself: stock Hadoop passes, and each small fault is found. */
class ConformanceTest {
  private static final String COLLECTOR = "-Dmapreduce.job.map.output.collector.class=";

  private record Report(int status, String text) {
    String lastLine() {
      return text.strip().substring(text.strip().lastIndexOf('\n') + 1);
    }
  }

  private static Report run(String... arguments) throws Exception {
    List<String> line = new ArrayList<>(List.of(arguments));
    line.addAll(List.of("--work", System.getProperty("conformance.work") + "/suite"));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int status = Conformance.run(line, new PrintStream(out, true, StandardCharsets.UTF_8));
    return new Report(status, out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void stockPassesAgainstStock() throws Exception {
    Report report = run();
    assertEquals(0, report.status, report.text);
    assertTrue(report.lastLine().matches("\\d\\d\\d passed, 0 failed, \\d+ skipped"), report.text);
  }

  /** Faults, the case that must show each, and text of the line that reports it. */
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "Drops           | keys/int$              | file out/part-r-",
      "Drops           | shape/million-records  | counter TaskCounter:MAP_OUTPUT_RECORDS",
      "Repeats         | keys/bytes$            | REDUCE_INPUT_RECORDS",
      "ChangesValue    | keys/int$              | file out/part-r-",
      "ChangesValue    | keys/text$             | file out/part-r-",
      "ChangesValue    | shape/million-records  | file out/part-r-",
      "ChangesValue    | codecs/snappy-merged   | file out/part-r-",
      "ChangesValue    | examples/wordcount     | file out/part-r-",
      "Misplaces       | keys/md5               | file out/part-r-",
      "KeepsReferences | api/object-reuse       | file out/part-r-",
      "Miscounts       | keys/text$             | counter TaskCounter:MAP_OUTPUT_RECORDS",
      "Unchecked       | failures/wrong-key     | stock job 1 failed",
  })
  void findsFaultyCollector(String fault, String caseName, String words) throws Exception {
    Report report = run(COLLECTOR + BrokenCollector.class.getName() + "$" + fault, "--only", caseName);
    assertEquals(1, report.status, report.text);
    assertTrue(report.text.startsWith("FAIL ") && report.text.contains(words), report.text);
    assertEquals("0 passed, 1 failed, 0 skipped", report.lastLine());
  }

  @Test
  void findsWrongOrder() throws Exception {
    Report report = run("-Dmap.sort.class=" + BrokenSort.class.getName(), "--only", "keys/text$");
    assertEquals(1, report.status, report.text);
  }

  @Test
  void findsMissingPlugin() throws Exception {
    Report report = run("--variant", "stock", "--judged", "--only", "keys/int$");
    assertEquals(1, report.status, report.text);
    assertTrue(report.text.contains("no task reported counter group Yunti"), report.text);
  }

  @Test
  void acceptsPluginThatReportsNative() throws Exception {
    Report report = run(COLLECTOR + BrokenCollector.Honest.class.getName(), "--judged", "--only", "keys/int$");
    assertEquals(0, report.status, report.text);
  }

  @Test
  void permitsListedDeclinesOnly() throws Exception {
    String declines = COLLECTOR + BrokenCollector.Declines.class.getName();
    Report report = run(declines, "--judged", "--only", "keys/int$", "--only", "keys/object-comparator");
    assertTrue(report.text.contains("FAIL keys/int: declined: key type"), report.text);
    assertTrue(report.text.contains("ok keys/object-comparator"), report.text);
    assertEquals("1 passed, 1 failed, 0 skipped", report.lastLine());
  }

  /** Faulty submitters, a case, and text of the line that reports the fault. */
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "Java          | words/folder | no job of native tasks: its mapper is",
      "SilentReduces | words/folder | 3 of 6 tasks report that they ran natively",
      "Declines      | words/folder | declined: codec of the moon",
      "Repeats       | words/folder | file out/part-r-",
      "Miscounts     | words/folder | counter TaskCounter:MAP_INPUT_RECORDS",
      "Refuses       | words/folder | status 3: yunti: there is something in the way",
      "Honest        | sort/lines$  | file out/part-r-",
  })
  void findsFaultyTasks(String fault, String caseName, String words) throws Exception {
    Report report = runNative(BrokenTasks.class.getName() + "$" + fault, caseName);
    assertEquals(1, report.status, report.text);
    assertTrue(report.text.startsWith("FAIL native/") && report.text.contains(words), report.text);
    assertEquals("0 passed, 1 failed, 0 skipped", report.lastLine());
  }

  @Test
  void acceptsTasksThatReportNative() throws Exception {
    Report report = runNative(BrokenTasks.Honest.class.getName(), "words/folder");
    assertEquals("1 passed, 0 failed, 0 skipped", report.lastLine(), report.text);
  }

  @Test
  void findsMissingSubmitter() throws Exception {
    Report report = runNative("no.such.Submitter", "words/folder");
    assertTrue(report.text.contains("ClassNotFoundException"), report.text);
    assertEquals("0 passed, 1 failed, 0 skipped", report.lastLine());
  }

  private static Report runNative(String submitter, String caseName) throws Exception {
    return run("--variant", "native", "-Dconformance.submitter=" + submitter, "--only", "native/" + caseName);
  }

  /** Measures a tiny input; its times are meaningless. */
  @Test
  void measuresProcessorTime() throws Exception {
    Report report = run("--cpu", "--scale", "2", "--seconds", "0.001", "--rounds", "2", "--only", "keys/int$",
        "--only", "failures/mapper-throws");
    assertTrue(report.text.matches("(?s).*(OK|UNCLEAR|OVER) +keys/int +stock +stock +\\d.*"), report.text);
    assertTrue(report.text.contains("skip    failures/mapper-throws: must fail"), report.text);
    assertTrue(report.lastLine().matches("\\d within 1.03, \\d over, \\d unclear, 0 failed, 1 skipped"), report.text);
  }

  @Test
  void wrongCommandIsStatus2() throws Exception {
    assertEquals(2, run("--no-such-option").status);
    assertEquals(2, run("--variant", "nobody").status);
    assertEquals(2, run("--variant", "stock", "--variant", "collector").status);
    assertEquals(2, run("--cpu", "--rounds", "1").status);
  }
}
