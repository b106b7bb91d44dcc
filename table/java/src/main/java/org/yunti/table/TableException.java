package org.yunti.table;

/**
 * A table that cannot be read: damaged, of another version, or cut while it was open. The message says what is wrong,
 * where, and what to do.
 */
public final class TableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public TableException(String message) {
    super(message);
  }

  public TableException(String message, Throwable cause) {
    super(message, cause);
  }
}
