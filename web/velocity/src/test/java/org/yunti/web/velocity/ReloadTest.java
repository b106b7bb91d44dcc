package org.yunti.web.velocity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.Map;
import java.util.Properties;
import org.apache.velocity.app.VelocityEngine;
import org.junit.jupiter.api.Test;

/** Test that the classes of a template are unloaded with it. */
class ReloadTest {
  private static final int RELOADS = 10_000;
  private static final long METASPACE_MORE_MAX = 4 << 20;

  private static long metaspaceBytes() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(20);
    }
    long sum = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getName().contains("Metaspace") || pool.getName().contains("Class Space")) {
        sum += pool.getUsage().getUsed();
      }
    }
    return sum;
  }

  @Test
  void unloadsTheClassesOfTenThousandTemplates() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("resource.manager.class", CompilingResourceManager.class.getName());
    // Without a cache, each load compiles the template again.
    properties.setProperty("resource.loader.string.cache", "false");
    VelocityEngine engine = Engines.make(properties);
    long before = 0;
    for (int i = 0; i < RELOADS; i++) {
      if (i == 500) {
        before = metaspaceBytes();
      }
      String page = "#macro(m $x)[$x]#end#foreach($n in [1..2])#m($n)$p.length()#end " + i;
      assertEquals("[1]1[2]1 " + i, RenderResult.of(engine, page, Map.of("p", "p")).text());
    }
    long more = metaspaceBytes() - before;
    assertTrue(more < METASPACE_MORE_MAX, "metaspace grew by " + more + " bytes");
  }
}
