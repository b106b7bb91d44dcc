package org.yunti.hadoop;

import java.io.File;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;

/**
 * Directories on local disks where Hadoop would put a task's spills. Hadoop chooses them, because it knows which disks
 * are healthy.
 */
public final class LocalDirectories {
  private LocalDirectories() {}

  /** Source of the paths that Hadoop would write. */
  public interface Place {
    Path file(int number) throws IOException;
  }

  /**
   * Returns one directory for each of the job's local disks, created if absent. Throws {@link Declined} if one cannot
   * be created.
   */
  public static String[] of(JobConf job, Place place) throws IOException {
    Set<String> found = new LinkedHashSet<>();
    int disks = Math.max(1, job.getTrimmedStrings(MRConfig.LOCAL_DIR).length);
    for (int i = 0; i < disks; i++) {
      found.add(new File(place.file(i).toUri().getPath()).getParent());
    }
    for (String directory : found) {
      if (!new File(directory).isDirectory() && !new File(directory).mkdirs()) {
        throw new Declined("no local directory " + directory);
      }
    }
    return found.toArray(new String[0]);
  }
}
