package org.yunti.namenode.audit;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;

/**
 * Settings of {@link RingAuditLogger} from hdfs-site.xml.
 *
 * @param file file of the audit log; default {@code ${hadoop.log.dir}/hdfs-audit.log}, as in stock
 * @param fileBytesMax bytes at which the file rotates, after a whole line; default 256 MB
 * @param backupsMax rotated files to keep, of which FILE.1 is the youngest; default 20
 * @param ringEvents events that may wait in the ring, a power of two; default 16,384
 * @param blockMillisMax milliseconds that an operation waits for a place in the ring; default 10,000
 * @param flushMillis milliseconds that an event waits at most, lost if the process is killed; default 10
 */
record
    AuditSettings(Path file, long fileBytesMax, int backupsMax, int ringEvents, long blockMillisMax, long flushMillis) {
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
   * Reads the settings.
   *
   * @throws IllegalArgumentException with the key of a wrong setting and its valid values
   */
  static AuditSettings of(Configuration conf) {
    String folder = System.getProperty("hadoop.log.dir");
    String file = value(conf, FILE_KEY);
    if (file == null && folder == null) {
      throw new IllegalArgumentException(
          FILE_KEY + " is not set, and neither is the system property hadoop.log.dir: give the file of the audit log");
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

  /** Returns the value; null if it is not set or blank. */
  private static String value(Configuration conf, String key) {
    String value = conf.getTrimmed(key);
    return value == null || value.isEmpty() ? null : value;
  }

  /** Parses bytes with a unit, such as 256m. */
  private static long bytes(Configuration conf, String key, long otherwise) {
    if (value(conf, key) == null) {
      return otherwise;
    }
    try {
      long bytes = conf.getLongBytes(key, otherwise);
      if (bytes > 0) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      // The exception below reports it.
    }
    throw new IllegalArgumentException(key + " is '" + conf.get(key) + "'; give bytes above 0, such as 256m");
  }

  private static long number(Configuration conf, String key, long otherwise, long min, long max) {
    String value = value(conf, key);
    if (value == null) {
      return otherwise;
    }
    try {
      long number = Long.parseLong(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The exception below reports it.
    }
    throw new IllegalArgumentException(key + " is '" + value + "'; give a number from " + min + " to " + max);
  }
}
