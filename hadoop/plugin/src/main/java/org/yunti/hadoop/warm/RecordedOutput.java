package org.yunti.hadoop.warm;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;

/**
 * Output of the recorded job. Its commit waits for the archives of the tasks: they are written when the tasks' JVMs
 * end, and Hadoop kills all containers of a job when it is committed.
 */
public final class RecordedOutput extends TextOutputFormat<Object, Object> {
  /** Setting: the folder of the recording. */
  static final String FOLDER = "yunti.hadoop.warm.folder";

  /** Milliseconds until the job is committed all the same. */
  static final long WAIT_MS = 240_000;

  static final long POLL_MS = 200;

  @Override
  public synchronized OutputCommitter getOutputCommitter(TaskAttemptContext context) throws IOException {
    return new Committer(FileOutputFormat.getOutputPath(context), context);
  }

  /** Waits until a file or directory exists; returns false if it does not in time. */
  static boolean await(FileSystem files, Path path) throws IOException {
    long end = System.currentTimeMillis() + WAIT_MS;
    while (!files.exists(path)) {
      if (System.currentTimeMillis() > end) {
        return false;
      }
      try {
        Thread.sleep(POLL_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }

  private static final class Committer extends FileOutputCommitter {
    Committer(Path output, TaskAttemptContext context) throws IOException {
      super(output, context);
    }

    @Override
    public void commitJob(JobContext context) throws IOException {
      Path folder = new Path(context.getConfiguration().get(FOLDER));
      FileSystem files = folder.getFileSystem(context.getConfiguration());
      await(files, new Path(folder, "map"));
      await(files, new Path(folder, "reduce"));
      super.commitJob(context);
    }
  }
}
