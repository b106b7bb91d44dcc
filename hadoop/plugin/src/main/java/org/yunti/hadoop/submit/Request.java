package org.yunti.hadoop.submit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What `yunti run --on yarn` asks for: one job, or those of a chain, each fed by the one before it. What follows a {@code --job} is of
 * that job, but for what is said of the whole.
 *
 * @param output of the last job
 * @param files class libraries and side files, as they lie here
 * @param facts a file that is given the facts of the jobs, or null
 * @param program the command line of Yunti, which makes the report of them, or null
 */
record Request(
    List<Stage> stages, String output, List<Path> files, boolean overwrite, boolean namedOutputs, String facts, String program) {
  /**
   * A job.
   *
   * @param inputs paths and globs; of the first job alone
   * @param sources how many of the inputs are each source's; empty where there is one source
   * @param settings over those of the command line
   */
  record Stage(Path jobFile, String name, List<String> inputs, List<Integer> sources, int reduces, Map<String, String> settings) {}

  /** What is told in a line, and the exit code. */
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
        case "--report-by" -> program = value;
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
      throw wrong("--job, --input and --output are needed");
    }
    return new Request(stages, output, files, overwrite, namedOutputs, facts, program);
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
      // So many inputs are the next source's.
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
      throw wrong(option + " is no number: " + value);
    }
  }

  private static Refusal wrong(String message) {
    return new Refusal(SubmitJob.USAGE, message);
  }
}
