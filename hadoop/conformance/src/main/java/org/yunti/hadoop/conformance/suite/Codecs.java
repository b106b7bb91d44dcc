package org.yunti.hadoop.conformance.suite;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.compress.CodecPool;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.util.ReflectionUtils;

/** Hadoop's codecs by the first part of their names: {@code Gzip}, {@code BZip2}. */
public final class Codecs {
  private Codecs() {}

  public static String className(String codec) {
    return "org.apache.hadoop.io.compress." + codec + "Codec";
  }

  private static CompressionCodec of(String codec, Configuration conf) throws ReflectiveOperationException {
    return (CompressionCodec) ReflectionUtils.newInstance(conf.getClassByName(className(codec)), conf);
  }

  /** Returns the compressed bytes: one member or frame. */
  public static byte[] compressed(String codec, byte[] bytes, Configuration conf)
      throws IOException, ReflectiveOperationException {
    return compressed(of(codec, conf), bytes);
  }

  private static byte[] compressed(CompressionCodec codec, byte[] bytes) throws IOException {
    Compressor compressor = CodecPool.getCompressor(codec);
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (OutputStream out = codec.createOutputStream(compressed, compressor)) {
      out.write(bytes);
    } finally {
      CodecPool.returnCompressor(compressor);
    }
    return compressed.toByteArray();
  }

  /**
   * Tries the codec as stock Hadoop would use it, and returns why it fails, or null: native libraries or jars may be
   * missing.
   */
  public static String obstacle(String codec, Configuration conf) {
    try {
      byte[] text = "text of a trial ".repeat(50).getBytes(StandardCharsets.US_ASCII);
      CompressionCodec found = of(codec, conf);
      byte[] back = expanded(found, compressed(found, text));
      return Arrays.equals(text, back) ? null : "stock Hadoop reads other bytes than it wrote";
    } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError e) {
      return "stock Hadoop cannot run it here: " + e.getMessage();
    }
  }

  /**
   * Returns why stock Hadoop cannot compress map output by the codec, or null. Without a compressor, Hadoop 3.1 to 3.3
   * writes the map output as it is, and then fails to read it: they need their native library for gzip.
   */
  public static String obstacleOfMapOutput(String codec, Configuration conf) {
    try {
      if (CodecPool.getCompressor(of(codec, conf)) == null) {
        return "stock Hadoop cannot run it here: no compressor without its native library";
      }
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      // Below, for the reason.
    }
    return obstacle(codec, conf);
  }

  /**
   * Returns why spills through zlib cannot run here, or null. With -Xcheck:jni, the JDK's Deflater copies its whole
   * input, the sort buffer, and writes it back at the end. Stock Hadoop's mapper collects into that buffer during the
   * spill, and these records are lost.
   */
  public static String damageByChecks() {
    boolean checked = ManagementFactory.getRuntimeMXBean().getInputArguments().contains("-Xcheck:jni");
    return checked ? "-Xcheck:jni damages records that stock Hadoop collects during a spill through zlib" : null;
  }

  private static byte[] expanded(CompressionCodec codec, byte[] bytes) throws IOException {
    Decompressor decompressor = CodecPool.getDecompressor(codec);
    try (InputStream in = codec.createInputStream(new ByteArrayInputStream(bytes), decompressor)) {
      return in.readAllBytes();
    } finally {
      CodecPool.returnDecompressor(decompressor);
    }
  }
}
