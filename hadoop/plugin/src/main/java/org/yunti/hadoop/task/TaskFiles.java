package org.yunti.hadoop.task;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.yunti.hadoop.report.TaskTime;

/**
 * Files that native code opens through Java and addresses by numbers (java_files.rs). They are files of Hadoop's file
 * systems, and streams of records that Java reads or writes. Not thread-safe.
 */
final class TaskFiles implements Closeable {
  /** Name prefix of streams: a scheme that no file system has. */
  static final String STREAMS = "yunti:/";

  /**
   * Name prefix of named outputs (task.rs of the engine): files beside the task's own, where its committer finds them.
   */
  private static final String OUTPUTS = STREAMS + "outputs/";

  /** Name prefix of bad records (task.rs of the engine): files below {@code _yunti} of the output, never compressed. */
  private static final String BAD_RECORDS = STREAMS + "bad-records/";

  /** Source of a stream, opened when native code opens its name. */
  interface Opener {
    InputStream open() throws IOException;
  }

  private static final class Stream {
    final Opener opener;
    final long length;

    Stream(Opener opener, long length) {
      this.opener = opener;
      this.length = length;
    }
  }

  private final Configuration conf;
  private final TaskInputOutputContext<?, ?, ?, ?> context;
  private final List<Closeable> open = new ArrayList<>();
  private final Map<String, Stream> inputs = new HashMap<>();
  private final Map<String, OutputStream> outputs = new HashMap<>();
  /** Numbers of named outputs. */
  private final Map<String, Integer> named = new HashMap<>();

  /** {@code context} is the task's, or null during the submission of a job. */
  TaskFiles(Configuration conf, TaskInputOutputContext<?, ?, ?, ?> context) {
    this.conf = conf;
    this.context = context;
  }

  /** Registers a stream as a file of about {@code length} bytes; returns its name. */
  String input(String name, long length, Opener opener) {
    inputs.put(STREAMS + name, new Stream(opener, length));
    return STREAMS + name;
  }

  String output(String name, OutputStream stream) {
    outputs.put(STREAMS + name, stream);
    return STREAMS + name;
  }

  long length(String name) throws IOException {
    Stream stream = inputs.get(name);
    if (stream != null) {
      return stream.length;
    }
    Path path = new Path(name);
    return path.getFileSystem(conf).getFileStatus(path).getLen();
  }

  int open(String name) throws IOException {
    Stream stream = inputs.get(name);
    if (stream != null) {
      return add(stream.opener.open());
    }
    Path path = new Path(name);
    return add(path.getFileSystem(conf).open(path));
  }

  int create(String name) throws IOException {
    OutputStream stream = outputs.get(name);
    if (stream != null) {
      return add(stream);
    }
    long start = System.nanoTime();
    int number;
    if (name.startsWith(OUTPUTS)) {
      number = createNamed(name.substring(OUTPUTS.length()));
    } else if (name.startsWith(BAD_RECORDS)) {
      Path path = new Path(committer().getWorkPath(), NativeOutputFormat.BAD_RECORDS + "/" + name.substring(BAD_RECORDS.length()));
      number = add(path.getFileSystem(conf).create(path, false));
    } else {
      Path path = new Path(name);
      number = add(path.getFileSystem(conf).create(path, false));
    }
    time(System.nanoTime() - start);
    return number;
  }

  /**
   * Creates a named output in the task's work directory. If only the cluster's configuration names a codec, the file
   * gets its extension.
   */
  private int createNamed(String name) throws IOException {
    CompressionCodec codec = NativeJob.codec(context);
    Path path = new Path(committer().getWorkPath(), codec == null ? name : name + codec.getDefaultExtension());
    Integer before = named.get(name);
    if (before != null) {
      // The task has restarted with more memory.
      open.get(before).close();
      path.getFileSystem(conf).delete(path, false);
    }
    OutputStream stream =
        codec == null ? path.getFileSystem(conf).create(path, false) : new CompressedOutput(context, codec, path);
    if (before != null) {
      open.set(before, stream);
      return before;
    }
    int number = add(stream);
    named.put(name, number);
    return number;
  }

  private PathOutputCommitter committer() throws IOException {
    OutputCommitter committer = context.getOutputCommitter();
    if (committer instanceof PathOutputCommitter) {
      return (PathOutputCommitter) committer;
    }
    String other = committer.getClass().getName();
    throw new IOException("Yunti: files beside the output need a committer of files, not " + other);
  }

  private int add(Closeable stream) {
    open.add(stream);
    return open.size() - 1;
  }

  /** Reads until {@code length} bytes are read or the file ends; returns the number of bytes. */
  int read(int number, long offset, byte[] into, int length) throws IOException {
    InputStream in = (InputStream) open.get(number);
    if (in instanceof FSDataInputStream && ((FSDataInputStream) in).getPos() != offset) {
      ((FSDataInputStream) in).seek(offset);
    }
    progress();
    int all = 0;
    while (all < length) {
      int n = in.read(into, all, length - all);
      if (n < 0) {
        break;
      }
      all += n;
    }
    if (in instanceof FSDataInputStream) {
      count(FileInputFormatCounter.BYTES_READ, all);
    }
    return all;
  }

  /** Sets the status of the task. Native code calls it. */
  void status(String status) {
    if (context != null) {
      context.setStatus(status);
    }
  }

  /** Reports progress. Native code calls it while it waits for user code. */
  void progress() {
    if (context != null) {
      context.progress();
    }
  }

  private void time(long ns) {
    if (context != null) {
      TaskTime.count(name -> context.getCounter(TaskTime.COUNTERS, name), TaskTime.Stage.WRITE, ns);
    }
  }

  private void count(Enum<?> name, long n) {
    Counter counter = context == null ? null : context.getCounter(name);
    if (counter != null) {
      counter.increment(n);
    }
  }

  void write(int number, byte[] from, int length) throws IOException {
    progress();
    OutputStream out = (OutputStream) open.get(number);
    if (out instanceof FSDataOutputStream) {
      count(FileOutputFormatCounter.BYTES_WRITTEN, length);
    }
    out.write(from, 0, length);
  }

  /**
   * Releases a file after native code is done with it. An output stays open until {@link #close}, which reports
   * failures.
   */
  void done(int number) throws IOException {
    Closeable file = open.get(number);
    if (file instanceof InputStream) {
      file.close();
    }
  }

  @Override
  public void close() throws IOException {
    // Closing flushes the last bytes of the outputs.
    long start = System.nanoTime();
    IOException first = null;
    for (Closeable stream : open) {
      try {
        stream.close();
      } catch (IOException e) {
        first = first == null ? e : first;
      }
    }
    open.clear();
    time(System.nanoTime() - start);
    if (first != null) {
      throw first;
    }
  }
}
