package org.yunti.hadoop.submit;

import java.io.Closeable;
import java.io.IOException;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapreduce.Cluster;
import org.apache.hadoop.mapreduce.JobSubmissionFiles;
import org.apache.hadoop.util.ShutdownHookManager;

/**
 * Where the jobs of a chain leave their outputs for the next one: a directory in the user's staging area, which nobody else may read. It
 * is gone in the end, also after a failure and where this client is told to end; one that is killed (SIGKILL) leaves it.
 *
 * <p>Not beside the output: what is there is seen by others, and may be a file system on which files cost more than on the cluster's own.
 */
final class BetweenJobs implements Closeable {
  /** Behind the hook that takes the running job off the cluster (50), and before file systems are closed (10). */
  private static final int REMOVE_PRIORITY = 40;

  private static final short OWN = 0700;

  private final FileSystem files;
  private final Path directory;
  private final Runnable remover = this::remove;

  BetweenJobs(Configuration conf) throws IOException, InterruptedException {
    Cluster cluster = new Cluster(conf);
    try {
      directory = new Path(JobSubmissionFiles.getStagingDir(cluster, conf), "yunti-chain-" + UUID.randomUUID());
    } finally {
      cluster.close();
    }
    files = directory.getFileSystem(conf);
    ShutdownHookManager.get().addShutdownHook(remover, REMOVE_PRIORITY);
    files.mkdirs(directory, new FsPermission(OWN));
  }

  /** What the job of this number leaves for the next one. */
  Path output(int number) {
    return new Path(directory, String.valueOf(number));
  }

  /** The next one has read it. */
  void drop(int number) throws IOException {
    files.delete(output(number), true);
  }

  private void remove() {
    try {
      files.delete(directory, true);
    } catch (IOException e) {
      System.err.println("yunti: cannot remove what was between the jobs: " + directory + ": " + e.getMessage());
    }
  }

  @Override
  public void close() {
    remove();
    if (!ShutdownHookManager.get().isShutdownInProgress()) {
      ShutdownHookManager.get().removeShutdownHook(remover);
    }
  }
}
