package org.yunti.web.bench.compile;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
 * Benchmark that loads many different templates, stock or compiled, and keeps them: seconds, and bytes of metaspace and
 * heap. Then it renders each once, which links the rest. The templates are the pages in turn, each with its own text
 * and variable. Prints one line of JSON.
 */
public final class ManyTemplates {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private ManyTemplates() {}

  /** Returns template number {@code i}, with a unique text. */
  static String variant(String text, int i) {
    String marked = text.replace("</title>", " " + i + "</title>").replace("<h2>", "<h2>" + i + " ")
        .replace("</body>", "<p>$!variant" + i + "</p></body>");
    return marked + "#set ($variant" + i + " = " + i + ")$variant" + i + "\n";
  }

  /** Returns the bytes of the pools of that name after a collection. */
  private static long used(String name) {
    long used = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getName().contains(name)) {
        used += pool.getUsage().getUsed();
      }
    }
    return used;
  }

  private static long metaspace() {
    return used("Metaspace") + used("Class Space");
  }

  private static long heap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /**
   * Runs the benchmark.
   *
   * @param args engine, number of templates
   */
  public static void main(String[] args) throws IOException {
    int count = Integer.parseInt(args[1]);
    VelocityEngine engine = VelocityEngines.create(args[0].equals(Engines.OURS));
    List<Page> pages = new ArrayList<>();
    long sourceChars = 0;
    for (String name : Pages.ALL) {
      Page page = Pages.of(name);
      VelocityEngines.put(engine, page);
      pages.add(page);
    }
    for (int i = 0; i < count; i++) {
      Page page = pages.get(i % pages.size());
      String text = variant(VelocityEngines.read(page.resources().get(page.template())), i);
      sourceChars += text.length();
      VelocityEngines.put(engine, "variant" + i, text);
    }
    long heapBefore = heap();
    long metaspaceBefore = metaspace();
    long cpuBefore = THREADS.getCurrentThreadCpuTime();
    long begin = System.nanoTime();
    List<Template> kept = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      kept.add(engine.getTemplate("variant" + i));
    }
    double loadSeconds = (System.nanoTime() - begin) / 1e9;
    double loadCpuSeconds = (THREADS.getCurrentThreadCpuTime() - cpuBefore) / 1e9;
    long heapLoaded = heap();
    long metaspaceLoaded = metaspace();
    begin = System.nanoTime();
    try (ByteWriter writer = ByteWriter.to(new Sink(), StandardCharsets.UTF_8)) {
      for (int i = 0; i < count; i++) {
        kept.get(i).merge(VelocityRenderer.context(pages.get(i % pages.size()).model()), writer);
      }
    }
    double renderSeconds = (System.nanoTime() - begin) / 1e9;
    System.gc();
    System.out.println(String.format(Locale.ROOT,
        "{\"engine\": \"%s\", \"templates\": %d, \"source_chars\": %d, \"load_s\": %.3f, "
        + "\"load_cpu_s\": %.3f, \"render_s\": %.3f, \"metaspace_loaded_mb\": %.2f, \"metaspace_rendered_mb\": %.2f, "
        + "\"heap_loaded_mb\": %.2f}", args[0], kept.size(), sourceChars, loadSeconds, loadCpuSeconds, renderSeconds,
        (metaspaceLoaded - metaspaceBefore) / 1e6, (metaspace() - metaspaceBefore) / 1e6,
        (heapLoaded - heapBefore) / 1e6));
  }
}
