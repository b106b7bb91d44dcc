package org.yunti.hadoop.conformance.cases.codecs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Codecs;
import org.yunti.hadoop.conformance.trace.Traced;

/**
 * Compression of map output: each codec of Hadoop with one spill, with several merged spills, and with values larger
 * than the codec's buffer, which span several chunks.
 */
public final class MapOutputCodecs {
  private MapOutputCodecs() {}

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    cases.add(Traced.of("codecs/none", Text.class, MapOutputCodecs::key, BytesWritable.class,
        MapOutputCodecs::smallValue).set("mapreduce.map.output.compress", false));
    for (String codec : List.of("Default", "Gzip", "BZip2", "Snappy", "Lz4", "ZStandard")) {
      String name = "codecs/" + codec.toLowerCase(java.util.Locale.ROOT);
      cases.add(Traced.of(name, Text.class, MapOutputCodecs::key, BytesWritable.class, MapOutputCodecs::smallValue)
          .mapOutput(codec));
      Case merged = Traced.of(name + "-merged", Text.class, MapOutputCodecs::key, BytesWritable.class,
              MapOutputCodecs::mediumValue, 2, 400)
          .set("mapreduce.task.io.sort.mb", 1).set("mapreduce.map.sort.spill.percent", "0.05")
          .set("mapreduce.task.io.sort.factor", 2).mapOutput(codec);
      cases.add(List.of("Default", "Gzip").contains(codec) ? merged.skippedIf(conf -> Codecs.damageByChecks()) : merged);
      cases.add(Traced.of(name + "-large-values", Text.class, MapOutputCodecs::key, BytesWritable.class,
          MapOutputCodecs::largeValue, 1, 4).mapOutput(codec));
    }
    // Names of Hadoop 1, which many job files still use.
    cases.add(Traced.of("codecs/old-names", Text.class, MapOutputCodecs::key, BytesWritable.class,
        MapOutputCodecs::smallValue).set("mapred.compress.map.output", true)
        .set("mapred.map.output.compression.codec", Codecs.className("Gzip"))
        .skippedIf(conf -> Codecs.obstacleOfMapOutput("Gzip", conf)));
    return cases;
  }

  private static Text key(Random random, int record) {
    return new Text("key" + random.nextInt(200));
  }

  private static BytesWritable smallValue(Random random, int record) {
    return value(random, random.nextInt(100));
  }

  private static BytesWritable mediumValue(Random random, int record) {
    return value(random, random.nextInt(2000));
  }

  private static BytesWritable largeValue(Random random, int record) {
    return value(random, 100_000 + random.nextInt(400_000));
  }

  /** Draws half noise and half runs, so that incompressible chunks occur too. */
  private static BytesWritable value(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    Arrays.fill(bytes, length / 2, length, (byte) length);
    return new BytesWritable(bytes);
  }
}
