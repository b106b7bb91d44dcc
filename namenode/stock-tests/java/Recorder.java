import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Writes a line of JSON for each method as soon as it has ended, to the file that the property {@code yunti.results} names: JUnit's own reports are written at
 * the end, and a JVM that is killed at its time limit has none.
 *
 * <pre>
 *   {"method": "testRename(java.lang.String)#2", "result": "passed", "ms": 812, "why": ""}
 *   {"reached": "org.yunti.namenode.lock.PhasedLock"}
 * </pre>
 *
 * The second says that the JVM has loaded this class of {@code yunti.plugins}; JVMs load what is used, so the plug-in has been at work.
 */
public final class Recorder implements TestExecutionListener {
  private static final int WHY_CHARS_MAX = 3000;

  private final Path file = Path.of(System.getProperty("yunti.results"));
  private final List<String> plugins = new ArrayList<>(List.of(System.getProperty("yunti.plugins", "").split(",")));
  private final Map<String, Long> begun = new ConcurrentHashMap<>();

  @Override
  public void executionStarted(TestIdentifier test) {
    begun.put(test.getUniqueId(), System.nanoTime());
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    tell(test, "skipped", reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    String outcome = switch (result.getStatus()) {
      case SUCCESSFUL -> "passed";
      case ABORTED -> "skipped";
      case FAILED -> "failed";
    };
    // A class has no result of its own, but where what comes before or after its methods fails.
    if (test.isTest() || !outcome.equals("passed")) {
      tell(test, outcome, result.getThrowable().map(Recorder::trace).orElse(""));
    }
    plugins.removeIf(this::tellIfReached);
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  private void tell(TestIdentifier test, String result, String why) {
    long now = System.nanoTime();
    long millis = (now - begun.getOrDefault(test.getUniqueId(), now)) / 1_000_000;
    String cut = why.length() > WHY_CHARS_MAX ? why.substring(0, WHY_CHARS_MAX) : why;
    write("{\"method\": " + quoted(name(test)) + ", \"result\": \"" + result + "\", \"ms\": " + millis + ", \"why\": " + quoted(cut) + "}");
  }

  /** Without engine and class; what is displayed may have numbers in it that are others each time. */
  private static String name(TestIdentifier test) {
    String name = test.getUniqueIdObject().getSegments().stream().skip(2).map(UniqueId.Segment::getValue).collect(Collectors.joining(" "));
    return name.isEmpty() ? "(class)" : name;
  }

  private boolean tellIfReached(String plugin) {
    try {
      Method find = ClassLoader.class.getDeclaredMethod("findLoadedClass", String.class);
      find.setAccessible(true);
      if (plugin.isEmpty() || find.invoke(ClassLoader.getSystemClassLoader(), plugin) == null) {
        return plugin.isEmpty();
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("loaded classes cannot be asked for", e);
    }
    write("{\"reached\": " + quoted(plugin) + "}");
    return true;
  }

  private synchronized void write(String line) {
    try (Writer out = Files.newBufferedWriter(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      out.write(line + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
