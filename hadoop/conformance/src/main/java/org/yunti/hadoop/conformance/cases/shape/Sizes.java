package org.yunti.hadoop.conformance.cases.shape;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Text;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.suite.Codecs;
import org.yunti.hadoop.conformance.trace.Traced;

/**
 * Records of one size, 3.5 times as much as the sort buffer in total. Sizes range from many per native batch to one
 * that fills the buffer. They surround the sizes of batches (64 KB) and of blocks (an eighth of a small buffer, at most
 * 1 MB).
 */
public final class Sizes {
  private static final int[] BYTES = {1_000, 16_000, 38_000, 64_000, 70_000, 200_000, 500_000, 1_000_000};
  private static final int[] BUFFERS_MB = {1, 2, 4, 6, 8, 16, 32, 100};
  private static final int[] REDUCES = {1, 4};
  private static final String[] CODECS = {"None", "Snappy", "Gzip", "Lz4", "ZStandard"};
  /** MB of the largest buffer that is swept with all codecs; larger ones run with one codec. */
  private static final int ALL_CODECS_MB = 4;

  private static final int NOISE_BYTES = 3 << 20;
  private static final byte[] NOISE = noise();

  private Sizes() {}

  public static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    cases.add(sized(16_000, 1, 4, "None"));
    cases.add(sized(38_000, 4, 1, "Snappy"));
    cases.add(sized(64_000, 8, 4, "Gzip").onCluster());
    cases.add(sized(200_000, 16, 1, "Lz4"));
    cases.add(sized(500_000, 8, 4, "None"));
    cases.add(sized(70_000, 100, 4, "None").onCluster());
    int ordinal = 0;
    for (int bytes : BYTES) {
      for (int megabytes : BUFFERS_MB) {
        for (int reduces : REDUCES) {
          ordinal++;
          for (int codec = 0; codec < CODECS.length; codec++) {
            if (megabytes <= ALL_CODECS_MB || ordinal % CODECS.length == codec) {
              addToSweep(cases, sized(bytes, megabytes, reduces, CODECS[codec]));
            }
          }
        }
      }
    }
    return cases;
  }

  private static void addToSweep(List<Case> cases, Case found) {
    if (cases.stream().noneMatch(other -> other.name().equals(found.name()))) {
      cases.add(found.onlyInSweep());
    }
  }

  private static Case sized(int bytes, int megabytes, int reduces, String codec) {
    String name = String.format(
        Locale.ROOT, "sizes/%d-bytes-%d-mb-%d-reduces-%s", bytes, megabytes, reduces, codec.toLowerCase(Locale.ROOT));
    int records = (int) (3.5 * (megabytes << 20) / bytes) + 1;
    Case traced = Traced.digested(Traced.of(name, Text.class, (random, record) -> new Text("key" + random.nextInt(1 << 30)),
            BytesWritable.class, (random, record) -> value(random, bytes), 1, records))
        .set("mapreduce.task.io.sort.mb", megabytes)
        // One map for all records.
        .set("mapreduce.input.fileinputformat.split.minsize", 1 << 30)
        .tweak(job -> job.setNumReduceTasks(reduces))
        .mustSpill();
    if (bytes >= megabytes << 20 - 1) {
      traced.counterMayDiffer("MAP_OUTPUT_BYTES", Buffers.OVERSIZED);
    }
    if (codec.equals("None")) {
      return traced;
    }
    Case compressed = traced.mapOutput(codec);
    return codec.equals("Gzip") ? compressed.skippedIf(conf -> Codecs.damageByChecks()) : compressed;
  }

  /** Returns a value of half noise and half zeros, so that codecs have work. */
  private static BytesWritable value(Random random, int length) {
    byte[] value = new byte[length];
    System.arraycopy(NOISE, random.nextInt(NOISE_BYTES - length), value, 0, length / 2);
    return new BytesWritable(value);
  }

  private static byte[] noise() {
    byte[] noise = new byte[NOISE_BYTES];
    new Random(7).nextBytes(noise);
    return noise;
  }
}
