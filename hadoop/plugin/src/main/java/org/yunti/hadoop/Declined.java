package org.yunti.hadoop;

import java.io.IOException;

/**
 * This task is not for native code: stock code runs instead. Thrown before the first record; the message is the reason, which the
 * counter and the log show.
 */
public final class Declined extends IOException {
  private static final long serialVersionUID = 1;

  public Declined(String reason) {
    super(reason);
  }

  public Declined(String reason, Throwable cause) {
    super(reason, cause);
  }
}
