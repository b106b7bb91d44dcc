package org.yunti.hadoop.conformance;

import java.util.LinkedHashMap;
import java.util.Map;
import org.yunti.hadoop.conformance.compare.Claim;
import org.yunti.hadoop.conformance.suite.Case;

/**
 * Subject of comparison with stock Hadoop: settings on top of every job's, or equivalent native programs.
 *
 * @param claim the counters that its tasks must report
 */
record Variant(String name, Map<String, String> overlay, Claim claim) {
  private static final Map<String, Variant> NAMED = new LinkedHashMap<>();

  static {
    add(new Variant("stock", Map.of(), Claim.NOTHING));
    // The list ends with the stock collector: Hadoop takes the next class when init() throws.
    String collectors =
        "org.yunti.hadoop.collect.NativeMapOutputCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer";
    add(new Variant("collector", Map.of("mapreduce.job.map.output.collector.class", collectors), Claim.SERVED));
    add(new Variant("shuffle", Map.of(
        "mapreduce.job.map.output.collector.class", collectors,
        "mapreduce.job.reduce.shuffle.consumer.plugin.class", "org.yunti.hadoop.shuffle.NativeShuffle"), Claim.SERVED));
    // Yunti's framework on one machine; its collector and shuffle serve by default.
    add(new Variant("runner", Map.of("mapreduce.framework.name", "yunti"), Claim.SERVED));
    add(new Variant("native", Map.of(), Claim.NATIVE_TASKS));
  }

  private static void add(Variant variant) {
    NAMED.put(variant.name, variant);
  }

  static Variant named(String name) {
    Variant variant = NAMED.get(name);
    if (variant == null) {
      throw new IllegalArgumentException("unknown variant " + name + "; choose one of: " + String.join(", ", NAMED.keySet()));
    }
    return variant;
  }

  Variant with(Map<String, String> more, boolean alsoJudged) {
    Map<String, String> all = new LinkedHashMap<>(overlay);
    all.putAll(more);
    return new Variant(name, all, alsoJudged && claim == Claim.NOTHING ? Claim.SERVED : claim);
  }

  /**
   * Returns true if the variant runs the case. Only native tasks run the cases for native tasks; stock runs all, to
   * check that they are sound. Collector and shuffle skip them, because a hundred other cases resemble their Java
   * sides.
   */
  boolean chooses(Case testCase) {
    return switch (claim) {
      case NOTHING -> true;
      case SERVED -> testCase.nativeBody() == null;
      case NATIVE_TASKS -> testCase.nativeBody() != null;
    };
  }

  Case.Body body(Case testCase) {
    return claim == Claim.NATIVE_TASKS ? testCase.nativeBody() : testCase.body();
  }
}
