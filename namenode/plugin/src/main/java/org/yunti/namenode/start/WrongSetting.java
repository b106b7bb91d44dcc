package org.yunti.namenode.start;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ExitUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * End of a NameNode that starts with a wrong setting: one line in its log, and exit code 1.
 *
 * <p>An exception would reach the log through stock's reflection, as 30 lines of stack traces with the reason in the
 * last but one. A part that is also created in a running NameNode, such as a call queue, must not use this class.
 */
public final class WrongSetting {
  private static final Logger LOG = LoggerFactory.getLogger(WrongSetting.class);

  private WrongSetting() {}

  /**
   * Logs the line and ends the process. Where an exit is disabled, as in tests, {@link ExitUtil.ExitException} has the
   * line.
   *
   * @param wrong message that begins with the key
   */
  public static RuntimeException end(Configuration conf, IllegalArgumentException wrong) {
    String line = line(conf, wrong.getMessage());
    LOG.error(line);
    ExitUtil.terminate(1, line);
    return wrong;
  }

  /** Returns the message with the file that has the key. */
  static String line(Configuration conf, String message) {
    String key = message.split("[ :]", 2)[0];
    String[] sources = conf.getPropertySources(key);
    String file = sources == null || sources.length == 0 ? "hdfs-site.xml" : sources[sources.length - 1];
    return "the NameNode does not start: " + file + ": " + message;
  }
}
