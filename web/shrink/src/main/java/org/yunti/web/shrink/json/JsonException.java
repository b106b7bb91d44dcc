package org.yunti.web.shrink.json;

/** Error of JSON text, with line and column. */
public final class JsonException extends Exception {
  private static final long serialVersionUID = 1;

  /** Creates an error with a message. */
  public JsonException(String message) {
    super(message);
  }
}
