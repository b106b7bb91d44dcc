package org.yunti.table.client.wire;

/** A response that says why a server did not do what a request asked for. */
public final class ErrorResponse extends Exception {
  /** No request of this protocol, or of another version. */
  public static final int WRONG_REQUEST = 1;
  public static final int WRONG_TOKEN = 2;
  /** No such table, column or handle. */
  public static final int ABSENT = 3;
  /** A key is none of the table's, or belongs to another shard. */
  public static final int WRONG_KEY = 4;
  /** The response would be longer than a frame may be. */
  public static final int TOO_LONG = 5;
  public static final int DAMAGED = 6;
  /** The server has as many connections as it may have, or ends. */
  public static final int UNAVAILABLE = 7;

  private static final long serialVersionUID = 1;
  private static final int TEXT_MAX = 500;

  private final int code;

  ErrorResponse(int code, String text) {
    super(line(text));
    this.code = code;
  }

  /** Returns one line, whatever the server sent. */
  private static String line(String text) {
    String line = text.replaceAll("\\p{Cntrl}+", " ").trim();
    return line.length() > TEXT_MAX ? line.substring(0, TEXT_MAX) + " .." : line;
  }

  /** Returns true if the server closes the connection. */
  boolean isLast() {
    return code == WRONG_REQUEST || code == WRONG_TOKEN || code == UNAVAILABLE;
  }

  public int code() {
    return code;
  }

  /** Returns what the user can do. */
  public String advice() {
    switch (code) {
      case WRONG_REQUEST:
        return "take a client of the server's version";
      case WRONG_TOKEN:
        return "set ClientOptions.token";
      case ABSENT:
        return "name what the server has";
      case WRONG_KEY:
        return "check the type of the key, and that the server has the shard that it reports";
      case TOO_LONG:
        return "the rows of one key are too many for one response: ask for fewer columns";
      case DAMAGED:
        return "build the table again";
      default:
        return "add servers, or try again";
    }
  }
}
