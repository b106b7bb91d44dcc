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

/**
 * First input file of each source of a job that has a byte, because others are tables without rows and columns; without
 * one, the first file. Files behind it are not listed.
 */
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
      FileStatus first = null;
      for (int end = next + counts[source]; next < end; next++) {
        FileSystem files = paths[next].getFileSystem(job.getConfiguration());
        FileStatus here = isFull(first) ? null : first(files, files.globStatus(paths[next], filter), filter);
        first = isFull(here) || first == null ? here : first;
      }
      if (first != null) {
        found.add(new NativeJob.Input(first.getPath().toString(), source));
      }
    }
    return found;
  }

  /** Returns the files that Hadoop's formats take: no hidden ones, and none that a filter of the job rejects. */
  private static PathFilter filter(Job job) {
    PathFilter own = FileInputFormat.getInputPathFilter(job);
    return path -> !path.getName().startsWith("_") && !path.getName().startsWith(".") && (own == null || own.accept(path));
  }

  private static boolean isFull(FileStatus file) {
    return file != null && file.getLen() > 0;
  }

  private static FileStatus first(FileSystem files, FileStatus[] candidates, PathFilter filter) throws IOException {
    FileStatus empty = null;
    for (FileStatus candidate : candidates == null ? new FileStatus[0] : candidates) {
      FileStatus found =
          candidate.isFile() ? candidate : first(files, files.listStatus(candidate.getPath(), filter), filter);
      if (isFull(found)) {
        return found;
      }
      empty = empty == null ? found : empty;
    }
    return empty;
  }
}
