package org.yunti.hadoop;

import java.io.IOException;

/**
 * Failure of user code in a native task: a class, a program or a worker. Native code throws it (failure.rs). The client
 * finds it by its class among the diagnostics of a failed job.
 */
public final class UserCodeFailure extends IOException {
  private static final long serialVersionUID = 1;

  /** {@code message}: {@code Yunti: } and one line; below it, more lines of the user's own, as a traceback. */
  public UserCodeFailure(String message) {
    super(message);
  }
}
