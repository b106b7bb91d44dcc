package org.yunti.web.velocity.compiler;

/** A template does not fit into one class. */
final class TooLargeException extends RuntimeException {
  TooLargeException(String message) {
    super(message);
  }
}
