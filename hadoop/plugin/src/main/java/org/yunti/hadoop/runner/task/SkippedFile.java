package org.yunti.hadoop.runner.task;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SkipBadRecords;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/** File of the records that an attempt left out, where the job's settings want it: OUTPUT/_logs/skip/ATTEMPT. */
final class SkippedFile {
  private final JobConf conf;
  /** Null if the job wants no such files. */
  private final Path path;
  private SequenceFile.Writer writer;

  SkippedFile(JobConf conf, TaskAttemptID attempt) {
    this.conf = conf;
    Path directory = SkipBadRecords.getSkipOutputPath(conf);
    path = directory == null ? null : new Path(directory, attempt.toString());
  }

  void add(Object key, Object value) throws IOException {
    if (path == null) {
      return;
    }
    if (writer == null) {
      writer = SequenceFile.createWriter(conf, SequenceFile.Writer.file(path),
          SequenceFile.Writer.keyClass(key.getClass()), SequenceFile.Writer.valueClass(value.getClass()),
          SequenceFile.Writer.compression(SequenceFile.CompressionType.BLOCK));
    }
    writer.append(key, value);
  }

  void close() throws IOException {
    if (writer != null) {
      writer.close();
    }
  }

  /** Removes the file of an attempt that failed: the next one writes the same records. */
  void abort() throws IOException {
    if (writer != null) {
      Closing.quietly("file of skipped records", writer::close);
      path.getFileSystem(conf).delete(path, false);
    }
  }
}
