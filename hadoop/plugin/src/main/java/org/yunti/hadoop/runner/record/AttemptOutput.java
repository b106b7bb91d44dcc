package org.yunti.hadoop.runner.record;

import java.io.Closeable;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import org.yunti.hadoop.runner.files.PrivateDirectory;

/**
 * Output and log of an attempt, as files of its own. Threads that an attempt starts belong to it.
 *
 * <p>Each file is made at its first byte, because most attempts print nothing.
 */
public final class AttemptOutput implements Closeable {
  private static final InheritableThreadLocal<AttemptOutput> CURRENT = new InheritableThreadLocal<>();
  private static boolean installed;

  private final File directory;
  private final Map<String, OutputStream> files = new HashMap<>();
  private boolean closed;

  private AttemptOutput(File directory) {
    this.directory = directory;
  }

  /** Lets the present thread, and all threads that it starts, print to files in a directory. */
  public static AttemptOutput begin(File directory) {
    install();
    AttemptOutput output = new AttemptOutput(directory);
    CURRENT.set(output);
    return output;
  }

  private static synchronized void install() {
    if (!installed) {
      installed = true;
      System.setOut(new Router(System.out, "stdout"));
      System.setErr(new Router(System.err, "stderr"));
      try {
        LogFile.install();
      } catch (LinkageError e) {
        // Another library than log4j 1 logs, by its own settings.
      }
    }
  }

  /** Writes to a file of the present thread's attempt. Returns false if it belongs to none. */
  static boolean write(String name, byte[] bytes, int from, int length) {
    AttemptOutput output = CURRENT.get();
    return output != null && output.append(name, bytes, from, length);
  }

  private synchronized boolean append(String name, byte[] bytes, int from, int length) {
    if (closed) {
      return false;
    }
    try {
      OutputStream file = files.get(name);
      if (file == null) {
        // The job's record may not exist yet either.
        PrivateDirectory.make(directory.getParentFile());
        PrivateDirectory.make(directory);
        file = new FileOutputStream(new File(directory, name), true);
        files.put(name, file);
      }
      file.write(bytes, from, length);
      return true;
    } catch (IOException e) {
      // A full disk must not fail a task that prints; the console is left.
      return false;
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    CURRENT.remove();
    for (OutputStream file : files.values()) {
      try {
        file.close();
      } catch (IOException e) {
        // Nothing is buffered.
      }
    }
    files.clear();
  }

  /** Stream of the program, whose output goes to the file of an attempt if it comes from one. */
  private static final class Router extends PrintStream {
    Router(PrintStream console, String name) {
      super(new OutputStream() {
        @Override
        public void write(int b) {
          write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
          if (!AttemptOutput.write(name, bytes, from, length)) {
            console.write(bytes, from, length);
          }
        }

        @Override
        public void flush() {
          console.flush();
        }
      }, true);
    }
  }
}
