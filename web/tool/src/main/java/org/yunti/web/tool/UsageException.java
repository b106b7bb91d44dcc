package org.yunti.web.tool;

/** What was asked cannot be done, in one line. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1;

  UsageException(String message) {
    super(message);
  }
}
