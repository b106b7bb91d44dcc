package org.yunti.web.oracle;

import org.apache.velocity.app.VelocityEngine;

/** Engines of cases: stock Velocity, or with another resource manager. */
public final class Engines {
  public static final String CANDIDATE =
      System.getProperty("yunti.oracle.manager", "org.yunti.web.velocity.CompilingResourceManager");

  private Engines() {}

  /**
   * Creates the engine of a case.
   *
   * @param manager class name of the resource manager, or null for Velocity's own
   */
  static VelocityEngine make(Case c, MemoryLoader loader, String manager) {
    VelocityEngine engine = new VelocityEngine();
    engine.setProperty("resource.loaders", "memory");
    engine.setProperty("resource.loader.memory.instance", loader);
    engine.setProperty("resource.loader.memory.cache", "true");
    // The creation of twenty parsers would take half of the time of a small case.
    engine.setProperty("parser.pool.size", "2");
    c.properties().forEach(engine::setProperty);
    if (manager != null) {
      engine.setProperty("resource.manager.class", manager);
    }
    c.templates().forEach(loader::put);
    engine.init();
    c.start().to(engine, loader);
    return engine;
  }
}
