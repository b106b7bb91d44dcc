package org.yunti.web.bench.engine;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.apache.velocity.runtime.resource.util.StringResourceRepository;
import org.yunti.web.bench.page.Page;
import org.yunti.web.velocity.CompilingResourceManager;

/**
 * Engines of Velocity with default settings, stock or compiled by the one property. Templates come from memory, so no
 * disk is timed.
 */
public final class VelocityEngines {
  private VelocityEngines() {}

  /** Returns an initialised engine without templates. */
  public static VelocityEngine create(boolean isCompiling) {
    VelocityEngine engine = new VelocityEngine();
    engine.setProperty("resource.loaders", "string");
    engine.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
    engine.setProperty("resource.loader.string.repository.static", "false");
    engine.setProperty("resource.loader.string.cache", "true");
    if (isCompiling) {
      engine.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    }
    engine.init();
    return engine;
  }

  public static void put(VelocityEngine engine, String name, String text) {
    ((StringResourceRepository) engine.getApplicationAttribute(StringResourceLoader.REPOSITORY_NAME_DEFAULT))
        .putStringResource(name, text);
  }

  /** Adds the templates of a page, under the names that they use. */
  public static void put(VelocityEngine engine, Page page) {
    page.resources().forEach((name, path) -> put(engine, name, read(path)));
  }

  public static String read(String path) {
    try (InputStream in = VelocityEngines.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("not on the class path: " + path);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
