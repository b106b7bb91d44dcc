package org.yunti.web.velocity.compiler;

/** Exception for a template that does not fit into one class. */
final class TooLargeException extends RuntimeException {
  TooLargeException(String message) {
    super(message);
  }
}
