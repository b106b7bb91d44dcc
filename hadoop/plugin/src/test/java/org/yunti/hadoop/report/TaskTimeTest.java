package org.yunti.hadoop.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.Counters;
import org.junit.jupiter.api.Test;
import org.yunti.hadoop.CountingReporter;
import org.yunti.hadoop.report.TaskTime.Stage;

/**
 * Stages are disjoint: their sum does not exceed the total. This JVM belongs to no task, so its start is not counted.
 */
class TaskTimeTest {
  private static final class Counting extends CountingReporter {
    long of(Stage stage) {
      return counters.findCounter(TaskTime.COUNTERS, stage.name()).getCounter();
    }
  }

  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

  @Test
  void subtractsTheTimesOfInnerStages() throws InterruptedException {
    Counting reporter = new Counting();
    TaskTime time = new TaskTime(reporter, new Configuration(false));
    time.lap(Stage.JVM_START);
    Thread.sleep(60);
    time.within(Stage.COLLECT, TimeUnit.MILLISECONDS.toNanos(40));
    time.lap(Stage.MAP);
    Thread.sleep(20);
    time.lap(Stage.SORT);
    // At most the time that the stage has.
    time.move(Stage.COLLECT, Stage.SPILL, TimeUnit.MILLISECONDS.toNanos(10));
    time.move(Stage.SORT, Stage.MERGE, HOUR_NS);
    time.end();
    assertEquals(0, reporter.of(Stage.JVM_START));
    assertEquals(30, reporter.of(Stage.COLLECT));
    assertEquals(10, reporter.of(Stage.SPILL));
    assertEquals(0, reporter.of(Stage.SORT));
    assertTrue(reporter.of(Stage.MAP) >= 20 && reporter.of(Stage.MERGE) >= 20, reporter.counters.toString());
    long sum = 0;
    for (Stage stage : new Stage[] {Stage.MAP, Stage.COLLECT, Stage.SPILL, Stage.MERGE}) {
      sum += reporter.of(stage);
    }
    long total = reporter.of(Stage.TOTAL);
    assertTrue(Math.abs(total - sum) <= 3, total + " and " + sum);
  }

  @Test
  void countsOnceIfEndedTwice() {
    Counting reporter = new Counting();
    TaskTime time = new TaskTime(reporter, new Configuration(false));
    // More than the lap, as a merge beside a shuffle may take: no stage becomes negative.
    time.within(Stage.MERGE, HOUR_NS);
    time.lap(Stage.SHUFFLE);
    time.end();
    time.end();
    assertEquals(0, reporter.of(Stage.SHUFFLE));
    assertEquals(TimeUnit.HOURS.toMillis(1), reporter.of(Stage.MERGE));
  }

  @Test
  void countsNothingIfTurnedOff() {
    Counting reporter = new Counting();
    Configuration conf = new Configuration(false);
    conf.setBoolean(TaskTime.SETTING, false);
    TaskTime time = new TaskTime(reporter, conf);
    time.lap(Stage.MAP);
    time.end();
    assertEquals(0, reporter.counters.countCounters());
  }
}
