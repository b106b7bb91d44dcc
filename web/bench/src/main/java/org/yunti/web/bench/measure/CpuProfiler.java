package org.yunti.web.bench.measure;

import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** Profiler that adds the meter's readings to JMH's wall time, which is unreliable on a shared machine. */
public final class CpuProfiler implements InternalProfiler {
  @Override
  public String getDescription() {
    return "processor time and allocation of the measured thread";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    // The meter starts in the benchmark's thread.
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
      IterationResult result) {
    OperationMeter.Reading reading = OperationMeter.last();
    return List.of(new ScalarResult("cpu", reading.cpuNanos(), "ns/op", AggregationPolicy.AVG),
        new ScalarResult("allocated", reading.bytes(), "B/op", AggregationPolicy.AVG),
        new ScalarResult("process", reading.processNanos(), "ns/op", AggregationPolicy.AVG));
  }
}
