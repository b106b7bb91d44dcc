package org.yunti.hadoop;

import java.io.IOException;

/**
 * Parts or settings of a job that do not fit together. Native code throws it (failure.rs), and the client refuses the
 * job.
 */
public final class UsageFailure extends IOException {
  private static final long serialVersionUID = 1;

  /** {@code message}: {@code Yunti: } and one line. */
  public UsageFailure(String message) {
    super(message);
  }
}
