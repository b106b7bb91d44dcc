// Runs jobs of Hadoop's examples in sequence in one JVM, by LocalJobRunner:
//
//   java -cp .. Examples -- SecondarySort in out -- Grep in out 't.*'
//
// A class is a Tool or has a main that exits; a class with such a main must come last. The exit status is the status of
// the first failed job.
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

public class Examples {
  static Configuration configuration() {
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "local");
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", System.getProperty("examples.tmp"));
    return conf;
  }

  static void run(List<String> words) throws Exception {
    Class<?> job = Class.forName("org.apache.hadoop.examples." + words.get(0));
    String[] args = words.subList(1, words.size()).toArray(new String[0]);
    if (!Tool.class.isAssignableFrom(job)) {
      job.getMethod("main", String[].class).invoke(null, (Object) args);
      return;
    }
    var constructor = job.getDeclaredConstructor();
    constructor.setAccessible(true);
    int code = ToolRunner.run(configuration(), (Tool) constructor.newInstance(), args);
    if (code != 0) {
      System.err.println(words + ": exit code " + code);
      System.exit(code);
    }
  }

  public static void main(String[] args) throws Exception {
    List<String> words = new ArrayList<>();
    for (String arg : args) {
      if (!arg.equals("--")) {
        words.add(arg);
      } else if (!words.isEmpty()) {
        run(words);
        words.clear();
      }
    }
    run(words);
  }
}
