package org.yunti.web.tool;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.exception.VelocityException;
import org.yunti.web.shrink.ShrinkException;

/** {@code java -jar yunti-velocity-tool.jar}: what a Velocity user asks of templates outside of an application. */
public final class Main {
  static final int DONE = 0;
  /** A template cannot be loaded or rendered, a file cannot be read or written. */
  static final int FAILED = 1;
  /** The words of the command are wrong. */
  static final int USAGE = 2;

  private static final String HELP = """
      java -jar yunti-velocity-tool.jar COMMAND

        explain TEMPLATE|DIR        what is compiled, and what is left to Velocity's interpreter: line, column, reason
          --json                    for programs
        shrink DIR --output DIR     the same templates, smaller; other files are copied
          --blocks                  no blanks at the edges of div, p, li, ..: unless a style sheet makes them inline
          --keep-white-space        leave blanks as they are
          --client-loops            send the values alone of loops that are marked ## yunti:client-loop
          --model FILE --template NAME   render NAME with this JSON, and say bytes, gzipped bytes and CPU time behind each step
          --json                    for programs
        render TEMPLATE             the page
          --json MODEL              its model, a file with one JSON object
          --root DIR                the folder that #parse counts from (the template's own)

        --properties FILE           Velocity's properties, as the application has them
        --charset NAME              of templates and pages (UTF-8)
        --suffix .vm                of names of templates in a folder

      Exit codes: 0 done; 1 a template cannot be loaded or rendered, a file cannot be read or written; 2 the command is wrong.
      """;

  private Main() {}

  public static void main(String[] words) {
    // Pages are bytes, and so is what is said of them, whatever the platform's charset.
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    PrintStream err = new PrintStream(System.err, true, StandardCharsets.UTF_8);
    int code = run(words, out, err);
    out.flush();
    System.exit(out.checkError() && code == DONE ? FAILED : code);
  }

  static int run(String[] words, PrintStream out, PrintStream err) {
    try {
      switch (words.length == 0 ? "" : words[0]) {
        case "explain":
          return Explain.run(words, out);
        case "shrink":
          return Shrink.run(words, out);
        case "render":
          return Render.run(words, out);
        case "help", "--help", "-h":
          out.print(HELP);
          return DONE;
        default:
          throw new UsageException((words.length == 0 ? "a command is missing" : "\"" + words[0] + "\" is no command")
              + "; there are explain, shrink, render and help");
      }
    } catch (UsageException e) {
      err.println("yunti-velocity-tool: " + e.getMessage());
      return USAGE;
    } catch (ShrinkException e) {
      err.println("yunti-velocity-tool: " + e.getMessage());
      return FAILED;
    } catch (VelocityException e) {
      err.println("yunti-velocity-tool: Velocity: " + Engines.oneLine(e));
      return FAILED;
    } catch (IOException e) {
      err.println("yunti-velocity-tool: " + e.getClass().getSimpleName() + ": " + e.getMessage());
      return FAILED;
    }
  }
}
