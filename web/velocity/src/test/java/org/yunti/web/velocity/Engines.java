package org.yunti.web.velocity;

import java.util.Properties;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.runtime.resource.loader.StringResourceLoader;
import org.apache.velocity.runtime.resource.util.StringResourceRepository;

/** Engines with templates that are held as strings. */
final class Engines {
  private Engines() {}

  static VelocityEngine stock() {
    return make(new Properties());
  }

  static VelocityEngine compiling() {
    Properties properties = new Properties();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    return make(properties);
  }

  static VelocityEngine make(Properties properties) {
    VelocityEngine engine = new VelocityEngine();
    engine.setProperty("resource.loaders", "string");
    engine.setProperty("resource.loader.string.class", StringResourceLoader.class.getName());
    engine.setProperty("resource.loader.string.repository.static", "false");
    engine.setProperty("resource.loader.string.cache", "true");
    engine.setProperties(properties);
    engine.init();
    return engine;
  }

  static void put(VelocityEngine engine, String name, String text) {
    StringResourceRepository all =
        (StringResourceRepository) engine.getApplicationAttribute(StringResourceLoader.REPOSITORY_NAME_DEFAULT);
    all.putStringResource(name, text);
  }
}
