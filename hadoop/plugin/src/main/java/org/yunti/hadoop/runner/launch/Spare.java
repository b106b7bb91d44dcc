package org.yunti.hadoop.runner.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.yunti.hadoop.NativeLibrary;
import org.yunti.hadoop.runner.RunnerProvider;

/**
 * JVM of the pool: it runs small jobs until its code is compiled, waits, and becomes one program of
 * {@code yunti hadoop run}.
 */
public final class Spare {
  private static final int JOBS_MAX = 40;
  private static final long WARM_NS_MAX = 6_000_000_000L;

  private Spare() {}

  public static void main(String[] arguments) throws Throwable {
    NativeLibrary.load();
    long begun = System.nanoTime();
    for (int i = 0; i < JOBS_MAX && System.nanoTime() - begun < WARM_NS_MAX; i++) {
      Train.main(new String[0]);
    }
    forget();
    List<String> words;
    try {
      words = words(NativeSpare.await());
    } catch (IOException e) {
      return; // The pool ended.
    }
    RunJob.main(words.toArray(new String[0]));
  }

  /** Removes the traces of the small jobs. */
  private static void forget() {
    RunnerProvider.forgetJobs();
    FileSystem.clearStatistics();
    System.gc();
  }

  private static List<String> words(byte[] bytes) {
    List<String> words = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == 0) {
        words.add(new String(bytes, from, i - from, StandardCharsets.UTF_8));
        from = i + 1;
      }
    }
    return words;
  }
}
