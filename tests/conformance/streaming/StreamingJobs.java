// Runs jobs of Hadoop Streaming in one JVM, by LocalJobRunner:
//
//   java -cp .. StreamingJobs JOBS RESULTS
//
// JOBS has a line for each job: its name, then its arguments, URL-encoded, with blanks between them. RESULTS gets lines
// `exit NAME CODE` and `counter NAME GROUP COUNTER VALUE`, with tabs between the words.
import java.io.PrintWriter;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.streaming.StreamJob;
import org.apache.hadoop.util.ToolRunner;

public class StreamingJobs {
  /** A job whose counters can be read when it is done. */
  static class Job extends StreamJob {
    Counters counters() throws Exception {
      return running_ == null ? null : running_.getCounters();
    }
  }

  static List<String> run(String line) throws Exception {
    String[] words = line.split(" ");
    String[] arguments = new String[words.length - 1];
    for (int i = 1; i < words.length; i++) {
      arguments[i - 1] = URLDecoder.decode(words[i], StandardCharsets.UTF_8);
    }
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", System.getProperty("streaming.tmp") + "/" + words[0]);
    conf.setInt("mapreduce.client.progressmonitor.pollinterval", 10);
    conf.setInt("mapreduce.local.map.tasks.maximum", 1);
    Job job = new Job();
    int code;
    try {
      code = ToolRunner.run(conf, job, arguments);
    } catch (Exception e) {
      System.err.println(words[0] + ": " + e);
      code = 1;
    }
    List<String> out = new ArrayList<>();
    out.add("exit\t" + words[0] + "\t" + code);
    Counters counters = job.counters();
    if (counters != null) {
      for (Counters.Group group : counters) {
        for (Counters.Counter counter : group) {
          String name = group.getName() + "\t" + counter.getName();
          out.add("counter\t" + words[0] + "\t" + name + "\t" + counter.getValue());
        }
      }
    }
    return out;
  }

  public static void main(String[] args) throws Exception {
    var pool = Executors.newFixedThreadPool(1);
    List<Future<List<String>>> jobs = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      jobs.add(pool.submit((Callable<List<String>>) () -> run(line)));
    }
    try (PrintWriter out = new PrintWriter(args[1], StandardCharsets.UTF_8)) {
      for (Future<List<String>> job : jobs) {
        job.get().forEach(out::println);
      }
    }
    System.exit(0);
  }
}
