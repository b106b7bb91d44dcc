package org.yunti.hadoop.report;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.ShutdownHookManager;

/** Jobs that this client submits, one after the other, and the report of the last one. Call order: {@link #run} for each, {@link #report}. */
public final class Submission {
  /** Before file systems are closed (10). */
  private static final int KILL_PRIORITY = 50;

  private static final int SUBMIT_TRIES = 30;
  private static final int SUBMIT_WAIT_MS = 100;

  /** Of the jobs that are done, asked for at once: a cluster without a history server forgets a job when its application master ends. */
  private final List<JobFacts> facts = new ArrayList<>();

  private final boolean reported;

  /** {@code reported}: whether facts are wanted. */
  public Submission(boolean reported) {
    this.reported = reported;
  }

  /** Submits a job and waits for it; whether it was successful. A job is not lost for want of a report. */
  public boolean run(Job job) throws IOException, InterruptedException, ClassNotFoundException {
    long now = System.currentTimeMillis();
    Runnable killer = () -> kill(job);
    ShutdownHookManager.get().addShutdownHook(killer, KILL_PRIORITY);
    boolean successful;
    try {
      successful = job.waitForCompletion(true);
    } finally {
      ShutdownHookManager.get().removeShutdownHook(killer);
    }
    if (reported && successful) {
      try {
        facts.add(JobFacts.ofSubmitted(job, now));
      } catch (IOException | RuntimeException e) {
        // What is told ends with the last job, and has no gap.
        facts.clear();
        unreported(e);
      }
    }
    return successful;
  }

  /**
   * Leaves the facts of the last job, with those of the others, in the file {@code into}, and the report that {@code program} (the
   * command line of Yunti) makes of them in the output directory.
   */
  public void report(Job last, Path output, String into, String program) throws InterruptedException {
    if (!reported || facts.isEmpty()) {
      return;
    }
    try {
      int before = facts.size() - 1;
      facts.get(before).write(new File(into), facts.subList(0, before));
      FileSystem files = output.getFileSystem(last.getConfiguration());
      // A writer of Java's may have put the records anywhere.
      if (program != null && files.exists(output)) {
        leave(files, new Path(output, "_yunti/report.json"), into, program);
      }
    } catch (IOException | RuntimeException e) {
      unreported(e);
    }
  }

  private static void unreported(Exception e) {
    System.err.println("yunti: the job is done, but has no report: " + e);
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
