package org.yunti.web.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.yunti.web.bench.compile.ColdCompile;
import org.yunti.web.bench.compile.ManyTemplates;
import org.yunti.web.bench.engine.Engines;
import org.yunti.web.bench.page.Pages;
import org.yunti.web.bench.server.LoadClient;
import org.yunti.web.bench.server.SearchServer;

/** Test that runs every benchmark once, so that none rots. It does not compare speeds. */
class BenchTest {
  @Test
  void rendersThePageOfStockVelocityInEveryEngine() throws Exception {
    List<OutputCheck.Comparison> all = OutputCheck.all();
    assertEquals(2 * 9 + 4 * 4, all.size());
    for (OutputCheck.Comparison compared : all) {
      assertEquals("bytes", compared.same(), compared.toString());
    }
  }

  @Test
  void rendersPagesOfTheClaimedSizes() throws Exception {
    assertEquals(5_700, OutputCheck.twice(Pages.STOCKS, Engines.STOCK).length, 100);
    assertEquals(117_000, OutputCheck.twice(Pages.SEARCH, Engines.STOCK).length, 1_000);
  }

  @Test
  void runsEachBenchmarkOnce() throws Exception {
    for (String page : Pages.ALL) {
      for (String engine : Engines.of(page)) {
        PageBenchmark benchmark = new PageBenchmark();
        benchmark.page = page;
        benchmark.engine = engine;
        benchmark.load();
        benchmark.begin();
        assertTrue(benchmark.render() > 1000, page + " " + engine);
        benchmark.end();
      }
    }
  }

  @Test
  void loadsTemplatesInBoth() throws Exception {
    for (String engine : Arrays.asList(Engines.STOCK, Engines.OURS)) {
      ColdCompile.main(new String[] {engine});
      ManyTemplates.main(new String[] {engine, "12"});
    }
  }

  @Test
  void servesBoth() throws Exception {
    for (String engine : Arrays.asList(Engines.STOCK, Engines.OURS)) {
      SearchServer server = new SearchServer(engine);
      try {
        LoadClient.LoadResult served = new LoadClient(server.port(), 2).run(0.2);
        assertTrue(served.requests() > 0 && served.cpuNanos() > 0, engine);
        assertEquals(OutputCheck.twice(Pages.SEARCH, engine).length, served.bytes() / served.requests(), engine);
      } finally {
        server.stop();
      }
    }
  }
}
