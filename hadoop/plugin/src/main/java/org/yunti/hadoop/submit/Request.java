package org.yunti.hadoop.submit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Request of {@code yunti run --on yarn}: one job, or a chain in which each job reads the output of the one before.
 * Options after a {@code --job} apply to that job, except the options of the whole request.
 *
 * @param output directory of the last job's output
 * @param files class libraries and side files, as local paths
 * @param shipped files for the tasks, as {@code PATH#PLACE}: the place in a task's directory
 * @param archives the same for archives, which each node unpacks
 * @param code user code of the job on this machine, for {@link org.yunti.hadoop.task.NativeJob#prepare}
 * @param formats class library for files of columns, a local path, or null
 * @param complete what the client completes by the first files: {@code columns}, {@code formats}, or null
 * @param facts a file for the facts of the jobs, or null
 * @param failure a file for the failure of user code, or null
 * @param program the command line of Yunti, which renders their report, or null
 */
record Request(
    List<Stage> stages,
    String output,
    List<Path> files,
    List<String> shipped,
    List<String> archives,
    String code,
    String formats,
    String complete,
    boolean overwrite,
    boolean namedOutputs,
    String facts,
    String failure,
    String program) {
  /**
   * Job of the request.
   *
   * @param inputs paths and globs; only of the first job
   * @param sources number of inputs of each source; empty for a single source
   * @param settings that override the command line's
   */
  record Stage(Path jobFile, String name, List<String> inputs, List<Integer> sources, int reduces, Map<String, String> settings) {}

  /** Refusal of a request: a message of one line and the exit code. */
  static final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    final int code;

    Refusal(int code, String message) {
      super(message);
      this.code = code;
    }
  }

  static Request parse(String[] arguments) throws Refusal {
    List<Stage> stages = new ArrayList<>();
    List<Path> files = new ArrayList<>();
    List<String> shipped = new ArrayList<>();
    List<String> archives = new ArrayList<>();
    String code = "";
    String formats = null;
    String complete = null;
    String failure = null;
    String output = null;
    String facts = null;
    String program = null;
    boolean overwrite = false;
    boolean namedOutputs = false;
    for (int i = 0; i < arguments.length; i++) {
      String option = arguments[i];
      if (option.equals("--overwrite")) {
        overwrite = true;
        continue;
      }
      if (option.equals("--named-outputs")) {
        namedOutputs = true;
        continue;
      }
      if (i + 1 == arguments.length) {
        throw wrong(option + " needs a value");
      }
      String value = arguments[++i];
      switch (option) {
        case "--output" -> output = value;
        case "--facts" -> facts = value;
        case "--failure" -> failure = value;
        case "--report-by" -> program = value;
        case "--code" -> code = value;
        case "--formats" -> formats = value;
        case "--complete" -> complete = value;
        case "--ship" -> shipped.add(value);
        case "--archive" -> archives.add(value);
        case "--lib", "--file" -> files.add(Path.of(value));
        case "--job" -> stages.add(new Stage(Path.of(value), "yunti", new ArrayList<>(), new ArrayList<>(), 1, new LinkedHashMap<>()));
        default -> {
          if (stages.isEmpty()) {
            throw wrong("--job comes before " + option);
          }
          stages.add(changed(stages.remove(stages.size() - 1), option, value));
        }
      }
    }
    if (stages.isEmpty() || stages.get(0).inputs().isEmpty() || output == null) {
      throw wrong("--job, --input and --output are required");
    }
    return new Request(
        stages, output, files, shipped, archives, code, formats, complete, overwrite, namedOutputs, facts, failure, program);
  }

  private static Stage changed(Stage stage, String option, String value) throws Refusal {
    switch (option) {
      case "--name" -> {
        return new Stage(stage.jobFile(), value, stage.inputs(), stage.sources(), stage.reduces(), stage.settings());
      }
      case "--reduces" -> {
        return new Stage(stage.jobFile(), stage.name(), stage.inputs(), stage.sources(), number(option, value), stage.settings());
      }
      case "--input" -> stage.inputs().add(value);
      // Number of inputs that belong to the next source.
      case "--source" -> stage.sources().add(number(option, value));
      case "--set" -> {
        int sign = value.indexOf('=');
        if (sign < 1) {
          throw wrong("--set takes KEY=VALUE: " + value);
        }
        stage.settings().put(value.substring(0, sign), value.substring(sign + 1));
      }
      default -> throw wrong("there is no option " + option);
    }
    return stage;
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
