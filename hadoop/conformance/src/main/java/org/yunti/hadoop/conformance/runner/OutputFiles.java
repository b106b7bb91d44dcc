package org.yunti.hadoop.conformance.runner;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.yunti.hadoop.conformance.suite.Order;
import org.yunti.hadoop.conformance.trace.Printable;

/**
 * Reader of a run's output folder into lists of comparable records: lines of (compressed) text files, or records of
 * sequence files. Records whose order the case leaves undefined are sorted.
 */
final class OutputFiles {
  private static final byte[] SEQUENCE_MAGIC = {'S', 'E', 'Q'};

  private OutputFiles() {}

  static Map<String, List<String>> read(Path folder, Order order, Configuration conf) throws IOException {
    Map<String, List<String>> files = new TreeMap<>();
    Map<String, List<String>> parts = new TreeMap<>();
    FileSystem fs = folder.getFileSystem(conf);
    if (!fs.exists(folder)) {
      return files;
    }
    String root = fs.makeQualified(folder).toUri().getPath();
    RemoteIterator<LocatedFileStatus> listing = fs.listFiles(folder, true);
    while (listing.hasNext()) {
      FileStatus file = listing.next();
      String name = file.getPath().toUri().getPath().substring(root.length() + 1);
      List<String> records = order == Order.CONTENT_FREE ? List.of() : records(fs, file.getPath(), conf);
      files.put(name, order == Order.JOINED_PARTS ? List.of() : canonical(records, order));
      if (order == Order.JOINED_PARTS) {
        parts.put(name, records);
      }
    }
    if (order == Order.JOINED_PARTS) {
      List<String> joined = new ArrayList<>();
      parts.values().forEach(joined::addAll);
      files.put("all parts", canonical(joined, Order.VALUES_FREE));
    }
    return files;
  }

  private static List<String> records(FileSystem fs, Path file, Configuration conf) throws IOException {
    byte[] head = new byte[3];
    try (InputStream in = fs.open(file)) {
      if (in.readNBytes(head, 0, 3) == 3 && java.util.Arrays.equals(head, SEQUENCE_MAGIC)) {
        return sequenceRecords(file, conf);
      }
    }
    CompressionCodec codec = new CompressionCodecFactory(conf).getCodec(file);
    try (InputStream raw = fs.open(file); InputStream in = codec == null ? raw : codec.createInputStream(raw)) {
      // One character per byte, so that output in other encodings than UTF-8 is kept.
      return lines(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1));
    }
  }

  private static List<String> lines(String text) {
    List<String> lines = new ArrayList<>();
    int start = 0;
    for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      lines.add(text.substring(start, end));
      start = end + 1;
    }
    if (start < text.length()) {
      lines.add(text.substring(start) + " (no newline)");
    }
    return lines;
  }

  private static List<String> sequenceRecords(Path file, Configuration conf) throws IOException {
    List<String> records = new ArrayList<>();
    try (SequenceFile.Reader reader = new SequenceFile.Reader(conf, SequenceFile.Reader.file(file))) {
      DataOutputBuffer key = new DataOutputBuffer();
      DataOutputBuffer value = new DataOutputBuffer();
      SequenceFile.ValueBytes raw = reader.createValueBytes();
      records.add("header: " + reader.getKeyClassName() + ", " + reader.getValueClassName() + ", "
          + reader.getCompressionType() + "\t");
      while (reader.nextRaw(key, raw) >= 0) {
        value.reset();
        raw.writeUncompressedBytes(value);
        records.add(Printable.of(key.getData(), key.getLength()) + "\t"
            + Printable.of(value.getData(), value.getLength()));
        key.reset();
      }
    } catch (EOFException e) {
      records.add("cut short: " + e);
    }
    return records;
  }

  private static List<String> canonical(List<String> records, Order order) {
    if (order == Order.RECORDS_FREE) {
      Collections.sort(records);
    } else if (order == Order.VALUES_FREE) {
      for (int start = 0; start < records.size();) {
        int end = start + 1;
        while (end < records.size() && key(records.get(end)).equals(key(records.get(start)))) {
          end++;
        }
        Collections.sort(records.subList(start, end));
        start = end;
      }
    }
    return records;
  }

  private static String key(String record) {
    int tab = record.indexOf('\t');
    return tab < 0 ? record : record.substring(0, tab);
  }
}
