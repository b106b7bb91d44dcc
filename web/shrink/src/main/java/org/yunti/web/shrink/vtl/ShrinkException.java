package org.yunti.web.shrink.vtl;

/** Error of shrinking in one line: fault, place, remedy. */
public final class ShrinkException extends Exception {
  private static final long serialVersionUID = 1;

  /** Creates an error with a message. */
  public ShrinkException(String message) {
    super(message);
  }
}
