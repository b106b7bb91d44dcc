package org.yunti.namenode.audit;

import static org.apache.commons.text.StringEscapeUtils.escapeJava;

/**
 * Audit event, as immutable values that another thread reads.
 *
 * @param millis milliseconds since 1970
 * @param address address of the client, without its name; may be null
 * @param permission owner, group and mode of the file; null without a file
 * @param trackingId id of the delegation token, or null; written only with {@code hasTrackingId}
 * @param context caller context, or null: not written
 * @param signature signature of the caller context, or null: not written
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
  /** Owner, group and mode of a file, written as {@code OWNER:GROUP:rwxr-xr-x}. */
  record Permission(String owner, String group, String mode) {}

  /** Appends the message of stock's {@code FSNamesystemAuditLogger}, without the layout's prefix and line end. */
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
        line.append(':').append(
            escapeJava(new String(signature, org.apache.hadoop.ipc.CallerContext.SIGNATURE_ENCODING)));
      }
    }
  }

  /** Appends a name; most names need no escapes. */
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
