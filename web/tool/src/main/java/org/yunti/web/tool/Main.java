package org.yunti.web.tool;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.exception.VelocityException;
import org.yunti.web.shrink.vtl.ShrinkException;

/**
 * Main program of {@code yunti-velocity-tool.jar}: explains, renders and shrinks templates outside of an application.
 */
public final class Main {
  static final int DONE = 0;
  /** Exit code: a template cannot be loaded or rendered, or a file cannot be read or written. */
  static final int FAILED = 1;
  /** Exit code: the command is wrong. */
  static final int USAGE = 2;

  private static final String HELP = """
      java -jar yunti-velocity-tool.jar COMMAND

        explain TEMPLATE|DIR        list compiled and interpreted parts, with line, column and reason
          --json                    print JSON
        shrink DIR --output DIR     write smaller templates; copy other files
          --blocks                  also remove blanks at the edges of div, p, li, .. (unless made inline by style)
          --keep-white-space        keep all blanks
          --client-loops            send only the values of loops marked ## yunti:client-loop
          --model FILE --template NAME   render NAME with this JSON; print bytes, gzipped bytes and CPU time per step
          --json                    print JSON
        render TEMPLATE             print the page
          --json MODEL              use this model, a file with one JSON object
          --root DIR                set the root folder of #parse (default: the template's folder)

        --properties FILE           use the application's Velocity properties
        --charset NAME              set the charset of templates and pages (default: UTF-8)
        --suffix .vm                set the ending of template names in a folder (default: .vm)

      Exit codes: 0 done; 1 a template cannot be loaded or rendered, or a file cannot be read or written;
          2 the command is wrong.
      """;

  private Main() {}

  public static void main(String[] words) {
    // Pages and messages are bytes in UTF-8, whatever the platform's charset.
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
          throw new UsageException((words.length == 0 ? "a command is missing"
              : "\"" + words[0] + "\" is not a command")
              + "; use explain, shrink, render or help");
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
