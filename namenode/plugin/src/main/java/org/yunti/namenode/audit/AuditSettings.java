package org.yunti.namenode.audit;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;

/**
 * What {@link RingAuditLogger} is told by hdfs-site.xml.
 *
 * @param file where lines go; {@code ${hadoop.log.dir}/hdfs-audit.log} if nothing is said, as stock's appender has it
 * @param fileBytesMax a file that has so many is put aside after the line with which it gets there; 256 MB
 * @param backupsMax files that are kept beside it: FILE.1 is the youngest; 20
 * @param ringEvents events that may wait to be written; 16,384, always a power of two
 * @param blockMillisMax how long an operation waits for a place in the ring; 10,000
 * @param flushMillis how long an event waits at most before it is written, which a killed process loses; 10
 */
record AuditSettings(Path file, long fileBytesMax, int backupsMax, int ringEvents, long blockMillisMax, long flushMillis) {
  static final String FILE_KEY = "yunti.namenode.audit.file";
  static final String FILE_BYTES_KEY = "yunti.namenode.audit.file.max.size";
  static final String BACKUPS_KEY = "yunti.namenode.audit.file.max.backups";
  static final String RING_KEY = "yunti.namenode.audit.ring.events";
  static final String BLOCK_KEY = "yunti.namenode.audit.block.max.ms";
  static final String FLUSH_KEY = "yunti.namenode.audit.flush.ms";

  private static final int RING_EVENTS_MAX = 1 << 24;
  private static final long MILLIS_MAX = 3_600_000;
  private static final int BACKUPS_MAX = 10_000;

  /**
   * @throws IllegalArgumentException with the key and what it may be
   */
  static AuditSettings of(Configuration conf) {
    String folder = System.getProperty("hadoop.log.dir");
    String file = said(conf, FILE_KEY);
    if (file == null && folder == null) {
      throw new IllegalArgumentException(FILE_KEY + " is not set, and neither is the system property hadoop.log.dir: give the file that audit lines go to");
    }
    return new AuditSettings(
        file == null ? Path.of(folder, "hdfs-audit.log") : Path.of(file),
        bytes(conf, FILE_BYTES_KEY, 256L << 20),
        (int) number(conf, BACKUPS_KEY, 20, 0, BACKUPS_MAX),
        powerOfTwo((int) number(conf, RING_KEY, 16_384, 2, RING_EVENTS_MAX)),
        number(conf, BLOCK_KEY, 10_000, 0, MILLIS_MAX),
        number(conf, FLUSH_KEY, 10, 1, MILLIS_MAX));
  }

  private static int powerOfTwo(int wanted) {
    return Integer.highestOneBit(wanted - 1) * 2;
  }

  /** Null: nothing, or a blank. */
  private static String said(Configuration conf, String key) {
    String said = conf.getTrimmed(key);
    return said == null || said.isEmpty() ? null : said;
  }

  /** With a unit: 256m. */
  private static long bytes(Configuration conf, String key, long otherwise) {
    if (said(conf, key) == null) {
      return otherwise;
    }
    try {
      long bytes = conf.getLongBytes(key, otherwise);
      if (bytes > 0) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      // Told below.
    }
    throw new IllegalArgumentException(key + " is '" + conf.get(key) + "'; give bytes above 0, such as 256m");
  }

  private static long number(Configuration conf, String key, long otherwise, long min, long max) {
    String said = said(conf, key);
    if (said == null) {
      return otherwise;
    }
    try {
      long number = Long.parseLong(said);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(key + " is '" + said + "'; give a number from " + min + " to " + max);
  }
}
