package org.yunti.web.tool;

import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.velocity.app.VelocityEngine;
import org.apache.velocity.exception.VelocityException;
import org.yunti.web.velocity.CompilingResourceManager;

/** Engines with the application's properties, which compile and load from one folder. */
final class Engines {
  private static final String DELIVERY = "org.yunti.web.delivery.AsyncBlock,org.yunti.web.delivery.ClientValue";

  private Engines() {}

  static VelocityEngine of(Path folder, Properties properties, Charset charset) throws UsageException {
    Properties own = new Properties();
    properties.stringPropertyNames().stream().filter(key -> !key.startsWith("resource."))
        .forEach(key -> own.setProperty(key, properties.getProperty(key)));
    own.setProperty("resource.loaders", "file");
    own.setProperty("resource.loader.file.path", folder.toString());
    own.setProperty("resource.loader.file.cache", "true");
    own.setProperty("resource.default_encoding", charset.name());
    own.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    String directives = own.getProperty("runtime.custom_directives");
    own.setProperty("runtime.custom_directives", directives == null ? DELIVERY
        : directives.contains("org.yunti.web.delivery.")
        ? directives : directives + "," + DELIVERY);
    try {
      VelocityEngine engine = new VelocityEngine(own);
      engine.init();
      return engine;
    } catch (VelocityException e) {
      throw new UsageException("Velocity does not start with these properties: " + oneLine(e));
    }
  }

  static String oneLine(Throwable e) {
    String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    return message.strip().split("\\R", 2)[0];
  }
}
