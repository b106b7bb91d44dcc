package org.yunti.namenode.audit;

import static org.apache.commons.text.StringEscapeUtils.escapeJava;

/**
 * What happened, in values that nobody changes any more: they are read by another thread.
 *
 * @param millis since 1970
 * @param address of the client, without its name; may be null
 * @param permission of the file, as {@code OWNER:GROUP:rwxr-xr-x}, or its three parts apart; owner null: there is none
 * @param trackingId null: none; it is told only where {@code hasTrackingId}
 * @param context null: it is not told
 * @param signature null: it is not told
 */
record AuditEvent(
    long millis,
    boolean isAllowed,
    String user,
    java.net.InetAddress address,
    String command,
    String source,
    String destination,
    Permission permission,
    boolean hasTrackingId,
    String trackingId,
    String protocol,
    String context,
    byte[] signature) {
  /** Of a file. */
  record Permission(String owner, String group, String mode) {}

  /** The line of stock's {@code FSNamesystemAuditLogger}, without what the appender puts before and behind it. */
  void appendTo(StringBuilder line, int contextCharsMax) {
    line.append("allowed=").append(isAllowed).append("\tugi=").append(user).append("\tip=");
    if (address == null) {
      line.append("null");
    } else {
      line.append('/').append(address.getHostAddress());
    }
    line.append("\tcmd=").append(command).append("\tsrc=");
    appendEscaped(line, source);
    line.append("\tdst=");
    appendEscaped(line, destination);
    line.append("\tperm=");
    if (permission == null) {
      line.append("null");
    } else {
      line.append(permission.owner).append(':').append(permission.group).append(':').append(permission.mode);
    }
    if (hasTrackingId) {
      line.append("\ttrackingId=").append(trackingId);
    }
    line.append("\tproto=").append(protocol);
    if (context != null) {
      String escaped = escapeJava(context);
      line.append("\tcallerContext=").append(escaped, 0, Math.min(escaped.length(), contextCharsMax));
      if (signature != null) {
        line.append(':').append(escapeJava(new String(signature, org.apache.hadoop.ipc.CallerContext.SIGNATURE_ENCODING)));
      }
    }
  }

  /** Most names are what they are: only others are translated, character by character. */
  private static void appendEscaped(StringBuilder line, String name) {
    if (name == null || isPlain(name)) {
      line.append(name);
    } else {
      line.append(escapeJava(name));
    }
  }

  private static boolean isPlain(String name) {
    for (int n = 0; n < name.length(); n++) {
      char c = name.charAt(n);
      if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        return false;
      }
    }
    return true;
  }
}
