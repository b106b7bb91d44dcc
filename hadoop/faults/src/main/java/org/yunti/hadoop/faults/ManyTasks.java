package org.yunti.hadoop.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Runs floods in this JVM in sequence until the given numbers of tasks have started, and prints the process's memory at
 * each.
 *
 * <pre>ManyTasks -D .. TASKS [TASKS ..]   prints `after N tasks, N served natively: RSS KB` at each</pre>
 *
 * One of ten floods fails in a map task, and another one in a reduce task.
 */
public final class ManyTasks extends Configured implements Tool {
  @Override
  public int run(String[] marks) throws Exception {
    int mark = 0;
    int tasks = 0;
    long served = 0;
    for (int number = 0; mark < marks.length; number++) {
      Configuration conf = new Configuration(getConf());
      if (number % 10 == 3) {
        conf.setInt(Flood.FAIL_MAP, 4);
      }
      if (number % 10 == 7) {
        conf.setInt(Flood.FAIL_REDUCE, 1);
      }
      boolean fails = number % 10 == 3 || number % 10 == 7;
      Job job = Flood.job(conf);
      boolean done = job.waitForCompletion(false);
      if (done == fails || done && !Flood.arrived(job)) {
        System.out.println("flood " + number + " should have " + (fails ? "failed" : "arrived"));
        return 1;
      }
      // If a map fails, the reduces do not start.
      tasks += conf.getInt("flood.maps", 2) + (number % 10 == 3 ? 0 : job.getNumReduceTasks());
      served += job.getCounters().findCounter("Yunti", "native").getValue();
      if (tasks >= Integer.parseInt(marks[mark])) {
        System.out.println("after " + tasks + " tasks, " + served + " served natively: " + residentKilobytes() + " KB");
        mark++;
      }
    }
    return 0;
  }

  private static long residentKilobytes() throws IOException, InterruptedException {
    // Twice, because cleaners run after a collection.
    for (int i = 0; i < 2; i++) {
      System.gc();
      Thread.sleep(200);
    }
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException("/proc/self/status has no VmRSS");
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new ManyTasks(), arguments));
  }
}
