package org.yunti.hadoop;

import java.io.IOException;

/**
 * Refusal of native code to serve a task, thrown before the first record; stock code runs instead. The message is the
 * reason, shown by a counter and the task log.
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
