package org.yunti.hadoop.task;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;

/** First input file of each source of a job. Files behind it are not listed. */
final class FirstFiles {
  private FirstFiles() {}

  /** Returns the first file of each source that has one. */
  static Set<NativeJob.Input> of(Job job) throws IOException {
    Path[] paths = FileInputFormat.getInputPaths(job);
    int[] counts = job.getConfiguration().getInts(NativeJob.SOURCES);
    if (counts.length == 0) {
      counts = new int[] {paths.length};
    }
    PathFilter filter = filter(job);
    Set<NativeJob.Input> found = new LinkedHashSet<>();
    int next = 0;
    for (int source = 0; source < counts.length; source++) {
      Path first = null;
      for (int end = next + counts[source]; next < end; next++) {
        FileSystem files = paths[next].getFileSystem(job.getConfiguration());
        first = first == null ? first(files, files.globStatus(paths[next], filter), filter) : first;
      }
      if (first != null) {
        found.add(new NativeJob.Input(first.toString(), source));
      }
    }
    return found;
  }

  /** Returns the files that Hadoop's formats take: no hidden ones, and none that a filter of the job rejects. */
  private static PathFilter filter(Job job) {
    PathFilter own = FileInputFormat.getInputPathFilter(job);
    return path -> !path.getName().startsWith("_") && !path.getName().startsWith(".") && (own == null || own.accept(path));
  }

  private static Path first(FileSystem files, FileStatus[] candidates, PathFilter filter) throws IOException {
    for (FileStatus candidate : candidates == null ? new FileStatus[0] : candidates) {
      Path found = candidate.isFile() ? candidate.getPath() : first(files, files.listStatus(candidate.getPath(), filter), filter);
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
