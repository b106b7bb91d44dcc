package org.yunti.web.shrink;

/** Something that cannot be shrunk, in one line: what, where, what to do. */
public final class ShrinkException extends Exception {
  private static final long serialVersionUID = 1;

  public ShrinkException(String message) {
    super(message);
  }
}
