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
 * Outputs of a chain's inner jobs, in a directory of the user's staging area that only the user can read. The directory
 * is removed at the end, after a failure and on a cancellation; a client killed by SIGKILL leaves it.
 *
 * <p>Rejected: a directory beside the output. Other users can see it, and its file system may be slower than the
 * cluster's own.
 */
final class IntermediateOutputs implements Closeable {
  /**
   * Priority of the shutdown hook: after the one that kills the running job (50), before the one that closes file
   * systems (10).
   */
  private static final int REMOVE_PRIORITY = 40;

  private static final short OWN = 0700;

  private final FileSystem files;
  private final Path directory;
  private final Runnable remover = this::remove;

  IntermediateOutputs(Configuration conf) throws IOException, InterruptedException {
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

  /** Returns the directory for the output of the job with this number. */
  Path output(int number) {
    return new Path(directory, String.valueOf(number));
  }

  /** Removes an output after the next job has read it. */
  void drop(int number) throws IOException {
    files.delete(output(number), true);
  }

  private void remove() {
    try {
      files.delete(directory, true);
    } catch (IOException e) {
      System.err.println("yunti: cannot remove the intermediate outputs: " + directory + ": " + e.getMessage());
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
