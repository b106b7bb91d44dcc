package org.yunti.hadoop.collect;

import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.DeflateCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.io.compress.ZStandardCodec;
import org.apache.hadoop.io.compress.zlib.ZlibCompressor.CompressionLevel;
import org.apache.hadoop.io.compress.zlib.ZlibFactory;
import org.apache.hadoop.mapred.JobConf;
import org.yunti.hadoop.Declined;

/**
 * Codec of a job's map output as native code numbers it in {@code compress/mod.rs}: 0 is none. {@code bufferBytes} is 0
 * for codecs without a block buffer.
 */
public final class CodecSetting {
  /** Level that leaves the choice to the codec. */
  private static final int OWN_LEVEL = -1;

  private final int number;
  private final int level;
  private final int bufferBytes;

  private CodecSetting(int number, int level, int bufferBytes) {
    this.number = number;
    this.level = level;
    this.bufferBytes = bufferBytes;
  }

  public int number() {
    return number;
  }

  public int level() {
    return level;
  }

  public int bufferBytes() {
    return bufferBytes;
  }

  /** Returns the codec of the job's settings. Throws {@link Declined} for a codec that native code lacks. */
  public static CodecSetting of(JobConf job) throws Declined {
    if (!job.getCompressMapOutput()) {
      return new CodecSetting(0, OWN_LEVEL, 0);
    }
    Class<? extends CompressionCodec> codec = job.getMapOutputCompressorClass(DefaultCodec.class);
    if (codec == DefaultCodec.class || codec == DeflateCodec.class) {
      return new CodecSetting(1, zlibLevel(job), 0);
    }
    if (codec == GzipCodec.class) {
      return new CodecSetting(2, zlibLevel(job), 0);
    }
    if (codec == BZip2Codec.class) {
      return new CodecSetting(3, OWN_LEVEL, 0);
    }
    if (codec == SnappyCodec.class) {
      int buffer =
          job.getInt(
              CommonConfigurationKeys.IO_COMPRESSION_CODEC_SNAPPY_BUFFERSIZE_KEY,
              CommonConfigurationKeys.IO_COMPRESSION_CODEC_SNAPPY_BUFFERSIZE_DEFAULT);
      return new CodecSetting(4, OWN_LEVEL, buffer);
    }
    if (codec == Lz4Codec.class) {
      int buffer =
          job.getInt(
              CommonConfigurationKeys.IO_COMPRESSION_CODEC_LZ4_BUFFERSIZE_KEY,
              CommonConfigurationKeys.IO_COMPRESSION_CODEC_LZ4_BUFFERSIZE_DEFAULT);
      return new CodecSetting(5, OWN_LEVEL, buffer);
    }
    if (codec == ZStandardCodec.class) {
      int level =
          job.getInt(
              CommonConfigurationKeys.IO_COMPRESSION_CODEC_ZSTD_LEVEL_KEY,
              CommonConfigurationKeys.IO_COMPRESSION_CODEC_ZSTD_LEVEL_DEFAULT);
      return new CodecSetting(6, level, 0);
    }
    throw new Declined("codec " + codec.getName());
  }

  private static int zlibLevel(JobConf job) {
    CompressionLevel level = ZlibFactory.getCompressionLevel(job);
    // Constants are declared from 0 to 9, followed by the default.
    return level == CompressionLevel.DEFAULT_COMPRESSION ? OWN_LEVEL : level.ordinal();
  }
}
