package org.yunti.web.tool;

/** Error in the command line or its files, in one line. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1;

  UsageException(String message) {
    super(message);
  }
}
