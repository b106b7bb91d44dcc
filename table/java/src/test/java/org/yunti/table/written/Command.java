package org.yunti.table.written;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Assumptions;

/** {@code yunti table build} of this repository, for tables that the tests' own writer did not write. */
public final class Command {
  private Command() {
  }

  /** Returns the program, or skips the test if it is not built. */
  public static Path find() {
    for (String place : new String[] {"../../dist/libexec/yunti-table", "../../target/tested/yunti-table"}) {
      Path program = Path.of(System.getProperty("basedir", "")).resolve(place);
      if (Files.isExecutable(program)) {
        return program;
      }
    }
    Assumptions.abort("yunti-table is not built: make table");
    return null;
  }

  /** Builds a random table from lines of JSON. */
  public static void build(Path command, RandomTable random, Path json, Path table)
      throws IOException, InterruptedException {
    StringBuilder lines = new StringBuilder();
    for (Object[] row : random.rows) {
      appendRecord(lines, random.writer.columns(), row);
      lines.append('\n');
    }
    if (random.rows.isEmpty()) {
      // Without a line of JSON there are no names; CSV has them.
      lines.append(String.join(",", random.writer.columns().stream().map(Spec::name).toList())).append('\n');
    }
    Files.writeString(json, lines);
    List<String> key = new ArrayList<>();
    List<String> others = new ArrayList<>();
    for (Spec column : random.writer.columns()) {
      (random.key.contains(column.name) ? key : others).add(column.toString());
    }
    key.sort(null);
    List<String> words = new ArrayList<>(List.of(command.toString(), "build", json.toString(), "-q", "-o",
        table.toString(), "--from", random.rows.isEmpty() ? "csv" : "json", "--key", String.join(",", key)));
    if (!others.isEmpty()) {
      words.addAll(List.of("--columns", String.join(",", others)));
    }
    if (random.isSeveral) {
      words.addAll(List.of("--duplicates", "list"));
    }
    if (random.isSorted) {
      words.add("--sorted");
    }
    run(words.toArray(new String[0]));
  }

  /** Runs a command to its end. */
  public static void run(String... words) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new AssertionError(String.join(" ", words) + ": " + output);
    }
  }

  private static void appendRecord(StringBuilder out, List<Spec> columns, Object[] values) {
    out.append('{');
    for (int i = 0; i < values.length; i++) {
      out.append(i == 0 ? "" : ",");
      appendText(out, columns.get(i).name);
      out.append(':');
      append(out, columns.get(i), values[i]);
    }
    out.append('}');
  }

  private static void append(StringBuilder out, Spec column, Object value) {
    if (value instanceof Object[] record) {
      appendRecord(out, column.children, record);
    } else if (value instanceof List<?> list) {
      out.append('[');
      for (int i = 0; i < list.size(); i++) {
        out.append(i == 0 ? "" : ",");
        append(out, column.children.get(0), list.get(i));
      }
      out.append(']');
    } else if (value instanceof String text) {
      appendText(out, text);
    } else if (value instanceof byte[] bytes) {
      appendText(out, new String(bytes, StandardCharsets.UTF_8));
    } else if (value instanceof Float || value instanceof Double) {
      // As a text: the command reads numbers of JSON with an error in the last bit.
      appendText(out, value.toString());
    } else {
      out.append(column.type().equals("u64") && value != null ? Long.toUnsignedString((Long) value) : value);
    }
  }

  private static void appendText(StringBuilder out, String text) {
    out.append('"');
    for (char c : text.toCharArray()) {
      out.append(c < 0x20 || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : c);
    }
    out.append('"');
  }
}
