package org.yunti.hadoop.task;

import com.sun.management.OperatingSystemMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.yunti.hadoop.NativeLibrary;

/**
 * Native map tasks (identity, sort, map output) in sequence in a warm JVM: the cost of a task without the start of its
 * JVM. Files are read and written through Hadoop's streams, like in a task.
 *
 * <pre>
 *   MapPath FILE DIRECTORY SORT_MB CODEC ROUNDS      records of 100 bytes with a key of 10; CODEC: see CodecSetting
 * </pre>
 *
 * The output is one line with megabytes (10^6) per second of processor time of the whole process for each round.
 */
public final class MapPath {
  private static final String JOB =
      "format = \"yunti-job/1\"\ninput-format = \"fixed:100:10\"\noutput-format = \"raw\"\nmode = \"sorted\"\n"
          + "partitioner = \"total-order\"\nreduces = 2\n";
  private static final long SPLIT_BYTES = 128L << 20;
  private static final int CODEC_BUFFER_BYTES = 256 << 10;

  private MapPath() {}

  public static void main(String[] arguments) throws Exception {
    String file = new File(arguments[0]).toURI().toString();
    Path folder = Path.of(arguments[1]);
    long memoryBytes = Long.parseLong(arguments[2]) << 20;
    int codec = Integer.parseInt(arguments[3]);
    Configuration conf = new Configuration();
    NativeLibrary.load();
    long length = new File(arguments[0]).length();
    String bounds;
    try (TaskFiles files = new TaskFiles(conf, null)) {
      bounds = NativeTask.bounds(JOB, files, new String[0], new String[] {file}, new int[] {0});
    }
    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    List<String> rows = new ArrayList<>();
    for (int round = 0; round <= Integer.parseInt(arguments[4]); round++) {
      long cpu = system.getProcessCpuTime();
      int number = 0;
      for (long start = 0; start < length; start += SPLIT_BYTES) {
        Path output = folder.resolve("map-" + number);
        try (TaskFiles files = new TaskFiles(conf, null)) {
          long end = Math.min(length, start + SPLIT_BYTES);
          NativeTask.map(
              JOB, files, file, start, end, 0, number++, memoryBytes, new String[] {folder.toString()}, codec, -1,
              CODEC_BUFFER_BYTES, bounds, output.toString());
        }
        Files.delete(output);
      }
      double seconds = (system.getProcessCpuTime() - cpu) / 1e9;
      // The first round warms up the compiler of the JVM.
      if (round > 0) {
        rows.add(String.format(Locale.ROOT, "%.1f", length / 1e6 / seconds));
      }
    }
    System.out.println(String.join(" ", rows));
  }
}
