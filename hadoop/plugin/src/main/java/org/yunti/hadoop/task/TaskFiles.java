package org.yunti.hadoop.task;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;
import org.yunti.hadoop.report.TaskTime;

/** Files of Hadoop's file systems for native code, which names them by numbers (java_files.rs). One thread uses it at a time. */
final class TaskFiles implements Closeable {
  private final Configuration conf;
  private final Reporter reporter;
  private final List<Closeable> streams = new ArrayList<>();

  TaskFiles(Configuration conf, Reporter reporter) {
    this.conf = conf;
    this.reporter = reporter;
  }

  long length(String name) throws IOException {
    Path path = new Path(name);
    return path.getFileSystem(conf).getFileStatus(path).getLen();
  }

  int open(String name) throws IOException {
    Path path = new Path(name);
    return add(path.getFileSystem(conf).open(path));
  }

  int create(String name) throws IOException {
    long start = System.nanoTime();
    Path path = new Path(name);
    int number = add(path.getFileSystem(conf).create(path, false));
    TaskTime.count(reporter, TaskTime.Stage.WRITE, System.nanoTime() - start);
    return number;
  }

  private int add(Closeable stream) {
    streams.add(stream);
    return streams.size() - 1;
  }

  /** Reads until {@code length} bytes are there or the file ends; how many. */
  int read(int number, long offset, byte[] into, int length) throws IOException {
    FSDataInputStream in = (FSDataInputStream) streams.get(number);
    if (in.getPos() != offset) {
      in.seek(offset);
    }
    reporter.progress();
    int all = 0;
    while (all < length) {
      int n = in.read(into, all, length - all);
      if (n < 0) {
        break;
      }
      all += n;
    }
    count(FileInputFormatCounter.BYTES_READ, all);
    return all;
  }

  private void count(Enum<?> name, long n) {
    Counters.Counter counter = reporter.getCounter(name);
    // There are none where a job is submitted.
    if (counter != null) {
      counter.increment(n);
    }
  }

  void write(int number, byte[] from, int length) throws IOException {
    reporter.progress();
    count(FileOutputFormatCounter.BYTES_WRITTEN, length);
    ((FSDataOutputStream) streams.get(number)).write(from, 0, length);
  }

  /** Native code has no more use for it. What was written is closed in {@link #close}, where a failure is told. */
  void done(int number) throws IOException {
    if (streams.get(number) instanceof FSDataInputStream in) {
      in.close();
    }
  }

  @Override
  public void close() throws IOException {
    // What is written goes out to the last byte here.
    long start = System.nanoTime();
    IOException first = null;
    for (Closeable stream : streams) {
      try {
        stream.close();
      } catch (IOException e) {
        first = first == null ? e : first;
      }
    }
    streams.clear();
    TaskTime.count(reporter, TaskTime.Stage.WRITE, System.nanoTime() - start);
    if (first != null) {
      throw first;
    }
  }
}
