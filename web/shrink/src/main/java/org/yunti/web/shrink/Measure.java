package org.yunti.web.shrink;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.zip.GZIPOutputStream;
import org.apache.velocity.Template;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.apache.velocity.runtime.resource.util.StringResourceRepository;
import org.yunti.web.velocity.CompilingResourceManager;
import org.yunti.web.velocity.output.ByteWriter;

/** What a page of a template weighs and takes, compiled and in UTF-8. */
public final class Measure {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final String REPOSITORY = "yunti.shrink.templates";
  private static final String DELIVERY = "org.yunti.web.delivery.ClientValue,org.yunti.web.delivery.AsyncBlock";

  /** Of which the one that took the least counts: the others were disturbed. */
  private static final int ROUNDS = 5;

  private final VelocityEngine engine;
  private final long nanos;

  /**
   * @param bytes of the page
   * @param gzipped of it, at gzip's own level
   * @param micros CPU time to render it, without compression
   */
  public record Weight(long bytes, long gzipped, double micros) {}

  /**
   * @param sources of all templates, by their names
   * @param properties of the application's engine, without its loaders
   * @param millis CPU time for one measurement, of which half is for warming up
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

  /** @throws ShrinkException when the template cannot be rendered with the model */
  public Weight of(String template, Map<String, Object> model) throws ShrinkException {
    try {
      Template compiled = engine.getTemplate(template);
      ByteWriter buffer = ByteWriter.buffer(StandardCharsets.UTF_8);
      run(compiled, model, buffer, nanos / 2);
      double micros = Double.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        micros = Math.min(micros, run(compiled, model, buffer, nanos / 2 / ROUNDS));
      }
      ByteArrayOutputStream gzipped = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(gzipped)) {
        buffer.writeTo(gzip);
      }
      return new Weight(buffer.size(), gzipped.size(), micros);
    } catch (VelocityException | IOException e) {
      throw new ShrinkException(template + " cannot be rendered with the model: " + VtlSource.firstLine(e.getMessage()));
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
