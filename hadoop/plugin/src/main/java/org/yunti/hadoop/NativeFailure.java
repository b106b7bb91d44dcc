package org.yunti.hadoop;

import java.io.IOException;

/**
 * Failure of native code in a task that it serves, for a reason that stock Hadoop would not have. See {@link Fallback}.
 */
public final class NativeFailure extends IOException {
  private static final long serialVersionUID = 1;

  NativeFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
