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
 * Listener that writes a line of JSON for each method as soon as it has ended, to the file in the property
 * {@code yunti.results}. JUnit writes its own reports at the end, so a JVM killed at its time limit has none.
 *
 * <pre>
 *   {"method": "testRename(java.lang.String)#2", "result": "passed", "ms": 812, "why": ""}
 *   {"reached": "org.yunti.namenode.lock.PhasedLock"}
 * </pre>
 *
 * <p>The second line means that the JVM has loaded this class of {@code yunti.plugins}. JVMs load a class at its first
 * use, so the plug-in was active.
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
    record(test, "skipped", reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    String outcome = switch (result.getStatus()) {
      case SUCCESSFUL -> "passed";
      case ABORTED -> "skipped";
      case FAILED -> "failed";
    };
    // A class has a result only if its setup or teardown fails.
    if (test.isTest() || !outcome.equals("passed")) {
      record(test, outcome, result.getThrowable().map(Recorder::trace).orElse(""));
    }
    plugins.removeIf(this::recordIfReached);
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  private void record(TestIdentifier test, String result, String why) {
    long now = System.nanoTime();
    long millis = (now - begun.getOrDefault(test.getUniqueId(), now)) / 1_000_000;
    String cut = why.length() > WHY_CHARS_MAX ? why.substring(0, WHY_CHARS_MAX) : why;
    write("{\"method\": " + quoted(name(test)) + ", \"result\": \"" + result + "\", \"ms\": " + millis
        + ", \"why\": " + quoted(cut) + "}");
  }

  /** Returns a method's name from its id, without engine and class; display names may contain numbers that vary. */
  private static String name(TestIdentifier test) {
    String name = test.getUniqueIdObject()
                      .getSegments()
                      .stream()
                      .skip(2)
                      .map(UniqueId.Segment::getValue)
                      .collect(Collectors.joining(" "));
    return name.isEmpty() ? "(class)" : name;
  }

  private boolean recordIfReached(String plugin) {
    try {
      Method find = ClassLoader.class.getDeclaredMethod("findLoadedClass", String.class);
      find.setAccessible(true);
      if (plugin.isEmpty() || find.invoke(ClassLoader.getSystemClassLoader(), plugin) == null) {
        return plugin.isEmpty();
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot read the loaded classes", e);
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
