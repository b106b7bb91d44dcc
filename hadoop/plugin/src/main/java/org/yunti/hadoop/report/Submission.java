package org.yunti.hadoop.report;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IOUtils;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.util.ShutdownHookManager;

/**
 * Jobs that this client submits in sequence, and the report of the last one. Call order: {@link #run} for each job,
 * then {@link #report}.
 */
public final class Submission {
  /** Priority of the shutdown hook: before the one that closes file systems (10). */
  private static final int KILL_PRIORITY = 50;

  private static final int SUBMIT_TRIES = 30;
  private static final int SUBMIT_WAIT_MS = 100;

  /**
   * Facts of the finished jobs, collected at once: without a history server, a cluster forgets a job when its
   * application master ends.
   */
  private final List<JobFacts> facts = new ArrayList<>();

  private final boolean reported;

  /** {@code reported}: true to collect facts. */
  public Submission(boolean reported) {
    this.reported = reported;
  }

  /** Submits a job and waits for it; returns true if it succeeded. A failure to collect facts does not fail the job. */
  public boolean run(Job job) throws IOException, InterruptedException, ClassNotFoundException {
    long now = System.currentTimeMillis();
    Runnable killer = () -> kill(job);
    ShutdownHookManager.get().addShutdownHook(killer, KILL_PRIORITY);
    boolean successful;
    try {
      successful = job.waitForCompletion(true);
    } finally {
      // A cancelled client is in its shutdown already.
      if (!ShutdownHookManager.get().isShutdownInProgress()) {
        ShutdownHookManager.get().removeShutdownHook(killer);
      }
    }
    if (reported && successful) {
      try {
        facts.add(JobFacts.ofSubmitted(job, now));
      } catch (IOException | RuntimeException e) {
        // A report covers all jobs up to the last one, or none.
        facts.clear();
        unreported(e);
      }
    }
    return successful;
  }

  /**
   * Writes the facts of the last job and of the earlier ones to the file {@code into}. {@code program} (the command
   * line of Yunti) renders the report from it; the report is stored in the output directory.
   */
  public void report(Job last, Path output, String into, String program) throws InterruptedException {
    if (!reported || facts.isEmpty()) {
      return;
    }
    try {
      int before = facts.size() - 1;
      facts.get(before).write(new File(into), facts.subList(0, before));
      FileSystem files = output.getFileSystem(last.getConfiguration());
      // A Java writer may have put the records elsewhere.
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

  /** Kills the job when this client is cancelled. */
  private static void kill(Job job) {
    try {
      // The submission may still be under way.
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
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    IOUtils.copyBytes(made.getInputStream(), text, 1 << 16);
    if (made.waitFor() != 0) {
      throw new IOException(program + " ended with " + made.exitValue());
    }
    try (FSDataOutputStream out = files.create(report, true)) {
      text.writeTo(out);
    }
  }
}
