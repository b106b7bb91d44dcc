package org.yunti.hadoop.submit;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Request of {@code yunti run --on yarn}: one job, or a chain in which each job reads the output of the one before.
 * Options after a {@code --job} apply to that job, except the options of the whole request.
 */
final class Request {
  final List<Stage> stages = new ArrayList<>();
  /** Directory of the last job's output. */
  String output;
  /** Class libraries, side files and tables, as local paths. */
  final List<Path> files = new ArrayList<>();
  /** Files for the tasks, as {@code PATH#PLACE}: the place in a task's directory. */
  final List<String> shipped = new ArrayList<>();
  /** The same for archives, which each node unpacks. */
  final List<String> archives = new ArrayList<>();
  /** User code of the job on this machine, for {@link org.yunti.hadoop.task.NativeJob#prepare}. */
  String code = "";
  /** Class library for files of columns, a local path, or null. */
  String formats;
  /** Facts that the client completes by the first files: {@code columns}, {@code formats}, or null. */
  String complete;
  boolean overwrite;
  boolean namedOutputs;
  /** File for the facts of the jobs, or null. */
  String facts;
  /** File for the failure of user code, or null. */
  String failure;
  /** Command line of Yunti, which renders their report, or null. */
  String program;

  /** Job of the request. */
  static final class Stage {
    final Path jobFile;
    String name = "yunti";
    /** Paths and globs; only of the first job. */
    final List<String> inputs = new ArrayList<>();
    /** Number of inputs of each source; empty for a single source. */
    final List<Integer> sources = new ArrayList<>();
    int reduces = 1;
    /** Settings that override the command line's. */
    final Map<String, String> settings = new LinkedHashMap<>();

    private Stage(Path jobFile) {
      this.jobFile = jobFile;
    }
  }

  /** Refusal of a request: a message of one line and the exit code. */
  static final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    final int code;

    Refusal(int code, String message) {
      super(message);
      this.code = code;
    }
  }

  private Request() {}

  static Request parse(String[] arguments) throws Refusal {
    Request request = new Request();
    for (int i = 0; i < arguments.length; i++) {
      String option = arguments[i];
      if (option.equals("--overwrite")) {
        request.overwrite = true;
        continue;
      }
      if (option.equals("--named-outputs")) {
        request.namedOutputs = true;
        continue;
      }
      if (i + 1 == arguments.length) {
        throw wrong(option + " needs a value");
      }
      request.set(option, arguments[++i]);
    }
    if (request.stages.isEmpty() || request.stages.get(0).inputs.isEmpty() || request.output == null) {
      throw wrong("--job, --input and --output are required");
    }
    return request;
  }

  private void set(String option, String value) throws Refusal {
    switch (option) {
      case "--output":
        output = value;
        break;
      case "--facts":
        facts = value;
        break;
      case "--failure":
        failure = value;
        break;
      case "--report-by":
        program = value;
        break;
      case "--code":
        code = value;
        break;
      case "--formats":
        formats = value;
        break;
      case "--complete":
        complete = value;
        break;
      case "--ship":
        shipped.add(value);
        break;
      case "--archive":
        archives.add(value);
        break;
      case "--lib":
      case "--file":
        files.add(Paths.get(value));
        break;
      case "--job":
        stages.add(new Stage(Paths.get(value)));
        break;
      default:
        if (stages.isEmpty()) {
          throw wrong("--job comes before " + option);
        }
        set(stages.get(stages.size() - 1), option, value);
    }
  }

  private static void set(Stage stage, String option, String value) throws Refusal {
    switch (option) {
      case "--name":
        stage.name = value;
        break;
      case "--reduces":
        stage.reduces = number(option, value);
        break;
      case "--input":
        stage.inputs.add(value);
        break;
      case "--source":
        // Number of inputs that belong to the next source.
        stage.sources.add(number(option, value));
        break;
      case "--set":
        int sign = value.indexOf('=');
        if (sign < 1) {
          throw wrong("--set takes KEY=VALUE: " + value);
        }
        stage.settings.put(value.substring(0, sign), value.substring(sign + 1));
        break;
      default:
        throw wrong("there is no option " + option);
    }
  }

  private static int number(String option, String value) throws Refusal {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw wrong(option + " takes a number: " + value);
    }
  }

  private static Refusal wrong(String message) {
    return new Refusal(SubmitJob.USAGE, message);
  }
}
