package org.yunti.web.shrink.json;

/** No JSON, and where. */
public final class JsonException extends Exception {
  private static final long serialVersionUID = 1;

  public JsonException(String message) {
    super(message);
  }
}
