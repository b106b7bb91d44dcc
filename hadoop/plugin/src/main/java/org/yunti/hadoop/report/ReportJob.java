package org.yunti.hadoop.report;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Cluster;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/** `yunti hadoop report`: the facts of a job that is done, in a file. And the same for a job that was just submitted. */
public final class ReportJob extends Configured implements Tool {
  private static final int USAGE = 2;
  private static final int INPUT = 3;

  /** Before file systems are closed (10). */
  private static final int KILL_PRIORITY = 50;

  private static final int SUBMIT_TRIES = 30;
  private static final int SUBMIT_WAIT_MS = 100;

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new ReportJob(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 2) {
      return fail(USAGE, "a job and a file are needed");
    }
    JobID id;
    try {
      id = JobID.forName(arguments[0]);
    } catch (IllegalArgumentException e) {
      return fail(USAGE, "this is no job: " + arguments[0] + ": write job_TIMESTAMP_NUMBER; mapred job -list all has them");
    }
    Cluster cluster = new Cluster(getConf());
    try {
      Job job = id == null ? null : cluster.getJob(id);
      if (job == null || job.getStatus() == null) {
        return unknown(id);
      }
      if (!job.isComplete()) {
        return fail(INPUT, "the job is not done yet: " + id + ": ask again when it is");
      }
      JobFacts.ofHistory(job).write(new File(arguments[1]));
      return 0;
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).contains("Unknown Job")) {
        return unknown(id);
      }
      throw e;
    } finally {
      cluster.close();
    }
  }

  private static int unknown(JobID id) {
    return fail(INPUT, "there is no job " + id + ": neither the cluster nor its history server knows it");
  }

  private static int fail(int code, String message) {
    System.err.println("yunti: " + message);
    return code;
  }

  /**
   * Submits a job and waits for it; whether it was successful. The facts are left in the file {@code facts}, and the report that
   * {@code program} (the command line of Yunti) makes of them in the output directory. A job is not lost for want of a report.
   */
  public static boolean submitted(Job job, Path output, String facts, String program)
      throws IOException, InterruptedException, ClassNotFoundException {
    long now = System.currentTimeMillis();
    Runnable killer = () -> kill(job);
    ShutdownHookManager.get().addShutdownHook(killer, KILL_PRIORITY);
    boolean successful;
    try {
      successful = job.waitForCompletion(true);
    } finally {
      ShutdownHookManager.get().removeShutdownHook(killer);
    }
    if (facts == null || !successful) {
      return successful;
    }
    try {
      JobFacts.ofSubmitted(job, now).write(new File(facts));
      FileSystem files = output.getFileSystem(job.getConfiguration());
      // A writer of Java's may have put the records anywhere.
      if (program != null && files.exists(output)) {
        leave(files, new Path(output, "_yunti/report.json"), facts, program);
      }
    } catch (IOException | RuntimeException e) {
      System.err.println("yunti: the job is done, but has no report: " + e);
    }
    return true;
  }

  /** Whoever ends this client does not want the job any more. */
  private static void kill(Job job) {
    try {
      // It may be on its way to the cluster.
      for (int i = 0; i < SUBMIT_TRIES && job.getJobID() == null; i++) {
        Thread.sleep(SUBMIT_WAIT_MS);
      }
      job.killJob();
      System.err.println("yunti: cancelled: the job " + job.getJobID() + " is taken off the cluster");
    } catch (IOException | IllegalStateException e) {
      System.err.println("yunti: cancelled, but the job " + job.getJobID() + " may go on: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void leave(FileSystem files, Path report, String facts, String program)
      throws IOException, InterruptedException {
    Process made =
        new ProcessBuilder(program, "report", "--json", facts).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    made.getOutputStream().close();
    byte[] text = made.getInputStream().readAllBytes();
    if (made.waitFor() != 0) {
      throw new IOException(program + " ended with " + made.exitValue());
    }
    try (FSDataOutputStream out = files.create(report, true)) {
      out.write(text);
    }
  }
}
