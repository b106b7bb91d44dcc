package org.yunti.web.bench.compile;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import org.apache.velocity.Template;
import org.apache.velocity.app.VelocityEngine;
import org.yunti.web.bench.engine.Engines;
import org.yunti.web.bench.engine.VelocityEngines;
import org.yunti.web.bench.engine.VelocityRenderer;
import org.yunti.web.bench.measure.Sink;
import org.yunti.web.bench.page.Page;
import org.yunti.web.bench.page.Pages;
import org.yunti.web.velocity.output.ByteWriter;

/**
 * Benchmark of the first templates of a JVM, stock or compiled: the engine's start, then loading (reading, parsing,
 * compiling) and the first rendering of the search page, then of the stocks page. The JVM must be new: each step is
 * timed once. Prints one line of JSON.
 */
public final class ColdCompile {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final StringBuilder json = new StringBuilder();

  private ColdCompile() {}

  private interface Step<T> {
    T run() throws IOException;
  }

  private <T> T time(String name, Step<T> step) throws IOException {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long wall = System.nanoTime();
    T result = step.run();
    double wallMs = (System.nanoTime() - wall) / 1e6;
    double cpuMs = (THREADS.getCurrentThreadCpuTime() - cpu) / 1e6;
    json.append(String.format(Locale.ROOT, ", \"%s_ms\": %.3f, \"%s_cpu_ms\": %.3f", name, wallMs, name, cpuMs));
    return result;
  }

  private void page(String name, VelocityEngine engine, Page page) throws IOException {
    VelocityEngines.put(engine, page);
    Template template = time("load_" + name, () -> engine.getTemplate(page.template()));
    Map<String, Object> model = page.model();
    time("render_" + name, () -> {
      try (ByteWriter writer = ByteWriter.to(new Sink(), StandardCharsets.UTF_8)) {
        template.merge(VelocityRenderer.context(model), writer);
      }
      return null;
    });
  }

  public static void main(String[] args) throws IOException {
    String name = args[0];
    Page first = Pages.of(Pages.SEARCH);
    Page second = Pages.of(Pages.STOCKS);
    ColdCompile cold = new ColdCompile();
    // loads the classes of the format before the timing
    String.format(Locale.ROOT, "%.3f", 0.5);
    VelocityEngine engine = cold.time("start", () -> VelocityEngines.create(name.equals(Engines.OURS)));
    cold.page("first", engine, first);
    cold.page("second", engine, second);
    System.out.println("{\"engine\": \"" + name + "\"" + cold.json + "}");
  }
}
