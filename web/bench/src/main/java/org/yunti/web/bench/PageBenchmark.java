package org.yunti.web.bench;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.yunti.web.bench.engine.Engines;
import org.yunti.web.bench.engine.Renderer;
import org.yunti.web.bench.measure.OperationMeter;
import org.yunti.web.bench.measure.Sink;

/** Benchmark of one page by one engine, in its own JVM, so that other engines' classes do not slow it down. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PageBenchmark {
  @Param("stocks")
  public String page;

  @Param("stock")
  public String engine;

  private final OperationMeter meter = new OperationMeter();
  private final Sink sink = new Sink();
  private Renderer renderer;

  @Setup(Level.Trial)
  public void load() {
    renderer = Engines.renderer(page, engine);
  }

  @Setup(Level.Iteration)
  public void begin() {
    meter.begin();
  }

  @TearDown(Level.Iteration)
  public void end() {
    meter.end();
  }

  @Benchmark
  public long render() throws IOException {
    renderer.render(sink);
    meter.count();
    return sink.count();
  }
}
