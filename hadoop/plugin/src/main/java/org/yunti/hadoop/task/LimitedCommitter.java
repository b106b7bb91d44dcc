package org.yunti.hadoop.task;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.yunti.hadoop.UserCodeFailure;

/**
 * Hadoop's committer of files for a job that may leave out some bad records. It counts those of all tasks before the
 * output appears, by the names of their files; a task knows only its own.
 */
final class LimitedCommitter extends FileOutputCommitter {
  private final long limit;

  LimitedCommitter(Path output, TaskAttemptContext context, long limit) throws IOException {
    super(output, context);
    this.limit = limit;
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    FileSystem files = getOutputPath().getFileSystem(context.getConfiguration());
    // Outputs of tasks wait for this commit, or are in place already (algorithm 2).
    long number =
        number(files, new Path(getJobAttemptPath(context), "task_*/" + NativeOutputFormat.BAD_RECORDS + "/m-*"))
            + number(files, new Path(getOutputPath(), NativeOutputFormat.BAD_RECORDS + "/m-*"));
    if (number > limit) {
      throw new UserCodeFailure(
          "Yunti: " + number + " records are bad, but at most " + limit
              + " may be: mend the class, or set --bad-records to a higher limit");
    }
    super.commitJob(context);
  }

  private static long number(FileSystem files, Path pattern) throws IOException {
    long number = 0;
    FileStatus[] found = files.globStatus(pattern);
    for (FileStatus file : found == null ? new FileStatus[0] : found) {
      String name = file.getPath().getName();
      number += Long.parseLong(name.substring(name.lastIndexOf('-') + 1));
    }
    return number;
  }
}
