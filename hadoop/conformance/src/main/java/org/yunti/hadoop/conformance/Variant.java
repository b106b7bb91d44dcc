package org.yunti.hadoop.conformance;

import java.util.LinkedHashMap;
import java.util.Map;
import org.yunti.hadoop.conformance.compare.Claim;
import org.yunti.hadoop.conformance.suite.Case;

/**
 * What is tried against stock Hadoop: settings laid over those of every job, or other programs that do the same.
 *
 * @param claim what its tasks must say of themselves
 */
record Variant(String name, Map<String, String> overlay, Claim claim) {
  private static final Map<String, Variant> NAMED = new LinkedHashMap<>();

  static {
    add(new Variant("stock", Map.of(), Claim.NOTHING));
    // The list ends with the stock collector: Hadoop takes the next one when init() throws.
    String collectors =
        "org.yunti.hadoop.collect.NativeMapOutputCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer";
    add(new Variant("collector", Map.of("mapreduce.job.map.output.collector.class", collectors), Claim.SERVED));
    add(new Variant("shuffle", Map.of(
        "mapreduce.job.map.output.collector.class", collectors,
        "mapreduce.job.reduce.shuffle.consumer.plugin.class", "org.yunti.hadoop.shuffle.NativeShuffle"), Claim.SERVED));
    add(new Variant("native", Map.of(), Claim.NATIVE_TASKS));
  }

  private static void add(Variant variant) {
    NAMED.put(variant.name, variant);
  }

  static Variant named(String name) {
    Variant variant = NAMED.get(name);
    if (variant == null) {
      throw new IllegalArgumentException("no variant " + name + "; there are: " + String.join(", ", NAMED.keySet()));
    }
    return variant;
  }

  Variant with(Map<String, String> more, boolean alsoJudged) {
    Map<String, String> all = new LinkedHashMap<>(overlay);
    all.putAll(more);
    return new Variant(name, all, alsoJudged && claim == Claim.NOTHING ? Claim.SERVED : claim);
  }

  /**
   * The cases of native tasks are for them. Stock Hadoop runs all: are they sound? Settings for Java jobs have a hundred
   * like their Java sides already.
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
