package org.yunti.hadoop.conformance;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is tried against stock Hadoop: settings laid over those of every job.
 *
 * @param judged its tasks must report that they ran natively: see compare/NativeClaim
 */
record Variant(String name, Map<String, String> overlay, boolean judged) {
  private static final Map<String, Variant> NAMED = new LinkedHashMap<>();

  static {
    add(new Variant("stock", Map.of(), false));
    // The list ends with the stock collector: Hadoop takes the next one when init() throws.
    String collectors =
        "org.yunti.hadoop.collect.NativeMapOutputCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer";
    add(new Variant("collector", Map.of("mapreduce.job.map.output.collector.class", collectors), true));
    add(new Variant("shuffle", Map.of(
        "mapreduce.job.map.output.collector.class", collectors,
        "mapreduce.job.reduce.shuffle.consumer.plugin.class", "org.yunti.hadoop.shuffle.NativeShuffle"), true));
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
    return new Variant(name, all, judged || alsoJudged);
  }
}
