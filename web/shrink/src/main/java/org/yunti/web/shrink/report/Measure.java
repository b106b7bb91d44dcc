package org.yunti.web.shrink.report;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.zip.GZIPOutputStream;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.apache.velocity.runtime.resource.util.StringResourceRepository;
import org.yunti.web.shrink.vtl.ShrinkException;
import org.yunti.web.shrink.vtl.VtlSource;
import org.yunti.web.velocity.CompilingResourceManager;
import org.yunti.web.velocity.output.ByteWriter;

/** Measurement of a page: its bytes, and the CPU time to render it, compiled and in UTF-8. */
public final class Measure {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final String REPOSITORY = "yunti.shrink.templates";
  private static final String DELIVERY = "org.yunti.web.delivery.ClientValue,org.yunti.web.delivery.AsyncBlock";

  private static final int ROUNDS = 5;

  private final VelocityEngine engine;
  private final long nanos;
  private final ByteWriter buffer = ByteWriter.buffer(StandardCharsets.UTF_8);

  /**
   * Result of a measurement.
   *
   * @param bytes bytes of the page
   * @param gzipped bytes after gzip at its default level
   * @param micros microseconds of CPU time to render it, without compression
   */
  public record Weight(long bytes, long gzipped, double micros) {}

  /**
   * Creates an engine for the templates.
   *
   * @param sources sources of all templates by name
   * @param properties properties of the application's engine; its loaders are ignored
   * @param millis milliseconds of CPU time for one measurement, half of it for warm-up
   */
  public Measure(Map<String, String> sources, Properties properties, long millis) {
    Properties own = new Properties();
    properties.stringPropertyNames().stream().filter(key -> !key.startsWith("resource.") && !key.contains("library"))
        .forEach(key -> own.setProperty(key, properties.getProperty(key)));
    own.setProperty("resource.loaders", "string");
    own.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
    own.setProperty("resource.loader.string.cache", "true");
    own.setProperty("resource.loader.string.repository.static", "false");
    own.setProperty("resource.loader.string.repository.name", REPOSITORY);
    own.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    String directives = own.getProperty("runtime.custom_directives");
    if (directives == null || !directives.contains("org.yunti.web.delivery.")) {
      own.setProperty("runtime.custom_directives", directives == null ? DELIVERY : directives + "," + DELIVERY);
    }
    engine = new VelocityEngine(own);
    engine.init();
    StringResourceRepository repository = (StringResourceRepository) engine.getApplicationAttribute(REPOSITORY);
    sources.forEach(repository::putStringResource);
    nanos = millis * 1_000_000;
  }

  /**
   * Measures the same page in several engines in turn, after a warm-up, so the JVM's optimisations affect all alike.
   * The fastest round of each counts, because the others were disturbed.
   *
   * @throws ShrinkException if the template cannot be rendered with the model
   */
  public static List<Weight> of(List<Measure> engines, String template, Map<String, Object> model)
      throws ShrinkException {
    try {
      List<Weight> weights = new ArrayList<>();
      double[] micros = new double[engines.size()];
      Arrays.fill(micros, Double.MAX_VALUE);
      for (int round = -ROUNDS; round < ROUNDS; round++) {
        for (int i = 0; i < micros.length; i++) {
          Measure measure = engines.get(i);
          double taken = run(measure.engine.getTemplate(template), model, measure.buffer, measure.nanos / 2 / ROUNDS);
          micros[i] = round < 0 ? micros[i] : Math.min(micros[i], taken);
        }
      }
      for (int i = 0; i < micros.length; i++) {
        ByteArrayOutputStream gzipped = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(gzipped)) {
          engines.get(i).buffer.writeTo(gzip);
        }
        weights.add(new Weight(engines.get(i).buffer.size(), gzipped.size(), micros[i]));
      }
      return weights;
    } catch (VelocityException | IOException e) {
      throw new ShrinkException(template + " cannot be rendered with the model: "
          + VtlSource.firstLine(e.getMessage()));
    }
  }

  private static double run(Template template, Map<String, Object> model, ByteWriter buffer, long nanos) {
    long start = THREADS.getCurrentThreadCpuTime();
    long spent;
    int pages = 0;
    do {
      buffer.reset();
      template.merge(new VelocityContext(new HashMap<>(model)), buffer);
      pages++;
      spent = THREADS.getCurrentThreadCpuTime() - start;
    } while (spent < nanos);
    return Math.round(spent / 10.0 / pages) / 100.0;
  }
}
