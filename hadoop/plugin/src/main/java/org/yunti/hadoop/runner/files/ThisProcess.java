package org.yunti.hadoop.runner.files;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Number of this process, and directories that bear such numbers. */
public final class ThisProcess {
  private static final Logger LOG = LoggerFactory.getLogger(ThisProcess.class);
  private static final Pattern OF_PROCESS = Pattern.compile("(?:.*-yunti|job_\\d+_\\d+)-(\\d+)");
  /** Java 8 has it only in this name. */
  private static final String ID = ManagementFactory.getRuntimeMXBean().getName().split("@", 2)[0];

  private static final Set<File> CLEANED = ConcurrentHashMap.newKeySet();

  private ThisProcess() {}

  public static String id() {
    return ID;
  }

  /**
   * Deletes the entries of a directory that killed processes left. Their names are {@code USER-yunti-NUMBER} and
   * {@code JOB-NUMBER}. Entries of other users stay, because they cannot be deleted.
   */
  public static void deleteLeftovers(File directory) {
    if (!CLEANED.add(directory)) {
      return; // Once is enough for one program.
    }
    File[] entries = directory.listFiles();
    if (entries == null || !new File("/proc/self").exists()) {
      return;
    }
    for (File entry : entries) {
      Matcher name = OF_PROCESS.matcher(entry.getName());
      if (name.matches() && !new File("/proc", name.group(1)).exists() && !FileUtil.fullyDelete(entry)) {
        LOG.debug("{} stays: it cannot be deleted", entry);
      }
    }
  }
}
