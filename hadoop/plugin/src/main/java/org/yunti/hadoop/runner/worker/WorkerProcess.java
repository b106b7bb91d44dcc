package org.yunti.hadoop.runner.worker;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.yunti.hadoop.runner.attempt.AttemptState;
import org.yunti.hadoop.runner.attempt.AttemptUmbilical;
import org.yunti.hadoop.runner.attempt.TaskOrder;
import org.yunti.hadoop.runner.attempt.BadRecords;
import org.yunti.hadoop.runner.load.ClassPlan;

/** The job's end of a worker. One thread uses it at a time; {@link #kill} may come from any. */
public final class WorkerProcess {
  private static final long END_MS_MAX = 2000;
  /** Number that Java, as a shell, adds to a signal's for the exit code. */
  private static final int SIGNALS = 128;
  private static final int SIGNAL_MAX = 64;
  /** Characters of a JVM's last words that a failure shows. */
  private static final int PRINTED_MAX = 2000;

  private final File directory;
  private final File log;
  private final Process process;
  private final DataInputStream in;
  private final DataOutputStream out;
  private volatile AttemptState state = new AttemptState();
  private volatile boolean progressed;
  private volatile long record;
  /** True once the present attempt reported its state. */
  private volatile boolean hasState;

  /** Failure of an attempt in a worker; its message has the stack. */
  public static final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    Failure(String message) {
      super(message);
    }
  }

  /**
   * Starts a JVM.
   *
   * @param options of the JVM
   * @param directory working directory
   * @param log file of what the JVM prints outside of attempts
   */
  public WorkerProcess(List<String> options, String classPath, TaskEnvironment environment, File directory,
      File log) throws IOException {
    this.directory = directory;
    this.log = log;
    List<String> command = new ArrayList<>(Arrays.asList("/bin/sh", "-c", Streams.MOVED, "sh"));
    command.add(new File(System.getProperty("java.home"), "bin/java").getPath());
    command.addAll(options);
    command.add("-cp");
    command.add(classPath);
    command.add(Worker.class.getName());
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory)
        .redirectError(ProcessBuilder.Redirect.appendTo(log));
    builder.environment().putAll(environment.in(directory));
    process = builder.start();
    in = new DataInputStream(new BufferedInputStream(process.getInputStream()));
    out = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
  }

  /** Returns the program's own class path, with entries that do not depend on the working directory. */
  public static String classPath() {
    StringBuilder path = new StringBuilder();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!entry.isEmpty()) {
        path.append(path.length() == 0 ? "" : File.pathSeparator).append(new File(entry).getAbsolutePath());
      }
    }
    return path.toString();
  }

  /** Returns the JVM's working directory. */
  public File directory() {
    return directory;
  }

  /**
   * Sends the job whose tasks will come.
   *
   * @param loads true if the worker loads the classes for its tasks; false if they are on its class path
   */
  public void begin(File settings, String user, Credentials credentials, File record, ClassPlan plan, boolean loads)
      throws IOException {
    out.writeByte(Frame.JOB);
    Text.writeString(out, settings.getPath());
    Text.writeString(out, user);
    credentials.write(out);
    Text.writeString(out, record.getPath());
    plan.write(out);
    out.writeBoolean(loads);
    out.flush();
  }

  /** Runs an attempt to its end. Throws {@link Failure} if it fails or if the JVM ends. */
  public void run(TaskOrder order, AttemptUmbilical.Job answers) throws Failure, IOException {
    state = new AttemptState();
    hasState = false;
    progressed = true;
    record = BadRecords.NONE;
    try {
      out.writeByte(Frame.TASK);
      order.write(out);
      out.flush();
      while (true) {
        int kind = in.readUnsignedByte();
        if (kind == Frame.MAY) {
          out.writeByte(Frame.COMMIT);
          out.writeBoolean(answers.mayCommit(order.id()));
          out.flush();
          continue;
        }
        if (kind == Frame.RECORD) {
          record = in.readLong();
          progressed = true;
          continue;
        }
        AttemptState next = new AttemptState();
        next.readFields(in);
        state = next;
        hasState = true;
        if (kind == Frame.DONE) {
          return;
        } else if (kind == Frame.FAILED) {
          throw new Failure(Text.readString(in));
        } else if (kind != Frame.STATE) {
          throw new IOException("unknown message " + kind);
        }
        progressed |= in.readBoolean();
      }
    } catch (EOFException e) {
      throw new Failure("Error: the JVM of " + order.id() + " ended " + ending());
    } catch (IOException e) {
      if (process.isAlive()) {
        throw e;
      }
      throw new Failure("Error: the JVM of " + order.id() + " ended " + ending());
    }
  }

  private String ending() {
    try {
      if (!process.waitFor(END_MS_MAX, TimeUnit.MILLISECONDS)) {
        return "without a word";
      }
      int code = process.exitValue();
      boolean isSignal = code > SIGNALS && code <= SIGNALS + SIGNAL_MAX;
      return (isSignal ? "by signal " + (code - SIGNALS) : "with exit code " + code)
          + (hasState ? "" : "; it printed:" + printed());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "while its attempt was stopped";
    }
  }

  /** Returns the end of what a JVM printed that did not start, such as the name of a wrong option. */
  private String printed() {
    try {
      String text = new String(Files.readAllBytes(log.toPath()), StandardCharsets.UTF_8);
      return "\n" + text.substring(Math.max(0, text.length() - PRINTED_MAX));
    } catch (IOException e) {
      return " " + e;
    }
  }

  public AttemptState state() {
    return state;
  }

  /** Returns true if the attempt made progress since the last call, or if its JVM has yet to start it. */
  public boolean takeProgress() {
    boolean was = progressed;
    progressed = !hasState;
    return was;
  }

  /** Returns the record that user code has, if the attempt skips bad ones. */
  public long record() {
    return record;
  }

  /** Ends the JVM at once. */
  public void kill() {
    process.destroyForcibly();
  }

  /** Lets the JVM end, and waits for it a moment. */
  public void end() {
    try {
      out.close();
      if (!process.waitFor(END_MS_MAX, TimeUnit.MILLISECONDS)) {
        kill();
      }
    } catch (IOException e) {
      kill();
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
  }
}
