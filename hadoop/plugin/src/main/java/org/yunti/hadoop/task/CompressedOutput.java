package org.yunti.hadoop.task;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;

/**
 * Output file of a task behind one of Hadoop's codecs. Closing it counts the bytes of the compressed file, not of the
 * records.
 */
final class CompressedOutput extends OutputStream {
  private final TaskInputOutputContext<?, ?, ?, ?> context;
  private final FSDataOutputStream file;
  private final Compressor compressor;
  private final OutputStream out;

  CompressedOutput(TaskInputOutputContext<?, ?, ?, ?> context, CompressionCodec codec, Path path) throws IOException {
    this.context = context;
    file = path.getFileSystem(context.getConfiguration()).create(path, false);
    compressor = CodecPool.getCompressor(codec, context.getConfiguration());
    try {
      out = codec.createOutputStream(file, compressor);
    } catch (IOException | RuntimeException e) {
      CodecPool.returnCompressor(compressor);
      file.close();
      throw e;
    }
  }

  @Override
  public void write(int b) throws IOException {
    out.write(b);
  }

  @Override
  public void write(byte[] from, int offset, int length) throws IOException {
    out.write(from, offset, length);
  }

  @Override
  public void close() throws IOException {
    try {
      out.close();
    } finally {
      CodecPool.returnCompressor(compressor);
    }
    context.getCounter(FileOutputFormatCounter.BYTES_WRITTEN).increment(file.getPos());
  }
}
