package org.yunti.bench;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.LongSupplier;

import net.openhft.chronicle.core.values.LongValue;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import net.openhft.chronicle.values.Values;

/**
 * Lookups of random keys in Chronicle Map, with the rows and keys of {@code table/benches/peers/peers.cpp}.
 *
 * <pre>
 *   java .. org.yunti.bench.ChronicleBench KEYS integers|texts LOOKUPS FILE
 * </pre>
 */
public final class ChronicleBench {
  private static final int ROUNDS = 5;

  private ChronicleBench() {
  }

  private static long mixed(long number) {
    long z = number * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  private static byte[] text(long number) {
    return String.format(Locale.ROOT, "user%012d", Long.remainderUnsigned(mixed(number), 1_000_000_000_000L))
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  public static void main(String[] arguments) throws Exception {
    long keys = Long.parseLong(arguments[0]);
    boolean isText = arguments[1].equals("texts");
    int lookups = Integer.parseInt(arguments[2]);
    File file = new File(arguments[3]);
    long[] asked = new long[lookups];
    for (int at = 0; at < lookups; at++) {
      asked[at] = Long.remainderUnsigned(mixed(at ^ 0x5555L), keys + keys / 9);
    }
    if (isText) {
      texts(keys, asked, file);
    } else {
      integers(keys, asked, file);
    }
  }

  private static void integers(long keys, long[] asked, File file) throws Exception {
    long begin = System.nanoTime();
    ChronicleMapBuilder<LongValue, LongValue> builder = ChronicleMapBuilder.of(LongValue.class, LongValue.class)
        .name("integers").entries(keys);
    try (ChronicleMap<LongValue, LongValue> map = builder.createPersistedTo(file)) {
      LongValue key = Values.newHeapInstance(LongValue.class);
      LongValue value = Values.newHeapInstance(LongValue.class);
      for (long number = 0; number < keys; number++) {
        key.setValue(mixed(number));
        value.setValue(number);
        map.put(key, value);
      }
      double built = (System.nanoTime() - begin) / 1e9;
      long[] wanted = new long[asked.length];
      for (int at = 0; at < asked.length; at++) {
        wanted[at] = mixed(asked[at]);
      }
      report(built, file, asked.length, () -> {
        long sum = 0;
        for (long one : wanted) {
          key.setValue(one);
          LongValue found = map.getUsing(key, value);
          if (found != null) {
            sum += found.getValue();
          }
        }
        return sum;
      });
    }
  }

  private static void texts(long keys, long[] asked, File file) throws Exception {
    long begin = System.nanoTime();
    ChronicleMapBuilder<byte[], LongValue> builder = ChronicleMapBuilder.of(byte[].class, LongValue.class)
        .name("texts").entries(keys).constantKeySizeBySample(new byte[16]);
    try (ChronicleMap<byte[], LongValue> map = builder.createPersistedTo(file)) {
      LongValue value = Values.newHeapInstance(LongValue.class);
      for (long number = 0; number < keys; number++) {
        value.setValue(number);
        map.put(text(number), value);
      }
      double built = (System.nanoTime() - begin) / 1e9;
      byte[][] wanted = new byte[asked.length][];
      for (int at = 0; at < asked.length; at++) {
        wanted[at] = text(asked[at]);
      }
      report(built, file, asked.length, () -> {
        long sum = 0;
        for (byte[] one : wanted) {
          LongValue found = map.getUsing(one, value);
          if (found != null) {
            sum += found.getValue();
          }
        }
        return sum;
      });
    }
  }

  /** Prints what peers.cpp prints; the JIT has the first rounds. */
  private static void report(double built, File file, int lookups, LongSupplier pass) {
    StringBuilder times = new StringBuilder();
    long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long begin = System.nanoTime();
      sum = pass.getAsLong();
      if (round >= ROUNDS - 3) {
        times.append(times.length() == 0 ? "" : ", ")
            .append(String.format(Locale.ROOT, "%.1f", (System.nanoTime() - begin) / (double) lookups));
      }
    }
    System.out.printf(Locale.ROOT, "{\"name\": \"Chronicle Map\", \"build_s\": %.2f, \"bytes\": %d, \"get_ns\": [%s], "
        + "\"sum\": %s}%n", built, file.length(), times, Long.toUnsignedString(sum));
  }
}
