package org.yunti.namenode.audit;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenSecretManager;
import org.apache.hadoop.hdfs.server.namenode.DefaultAuditLogger;
import org.apache.hadoop.hdfs.server.namenode.FSNamesystem;
import org.apache.hadoop.ipc.CallerContext;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.UserGroupInformation.AuthenticationMethod;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.util.ShutdownHookManager;
import org.yunti.namenode.start.WrongSetting;

/**
 * Audit logger with stock's lines, byte for byte, written outside the handlers: {@code dfs.namenode.audit.loggers}.
 *
 * <p>A handler puts an event into a ring, and waits only if the ring is full. Another thread formats and writes the
 * lines.
 *
 * <p>No line is lost while the process runs or ends by SIGTERM. A killed process, or a machine that stops, loses the
 * lines that were not written: those of the last {@code yunti.namenode.audit.flush.ms}, if the disk keeps up.
 */
public final class RingAuditLogger extends DefaultAuditLogger {
  /** Priority after all hooks of Hadoop, which have 0 or more. */
  private static final int SHUTDOWN_PRIORITY = -1000;
  /** Number of modes: nine bits and the sticky bit. */
  private static final int MODES = 1 << 10;

  private final AtomicReferenceArray<String> modes = new AtomicReferenceArray<>(MODES);
  private AuditWriter writer;
  private OtherAppenders others;

  /**
   * Reads the settings and opens the file. A wrong setting, or a file that cannot be written, ends the NameNode with a
   * line in its log.
   */
  @Override
  public void initialize(Configuration conf) {
    isCallerContextEnabled = conf.getBoolean(CommonConfigurationKeysPublic.HADOOP_CALLER_CONTEXT_ENABLED_KEY,
        CommonConfigurationKeysPublic.HADOOP_CALLER_CONTEXT_ENABLED_DEFAULT);
    callerContextMaxLen = conf.getInt(CommonConfigurationKeysPublic.HADOOP_CALLER_CONTEXT_MAX_SIZE_KEY,
        CommonConfigurationKeysPublic.HADOOP_CALLER_CONTEXT_MAX_SIZE_DEFAULT);
    callerSignatureMaxLen = conf.getInt(
        CommonConfigurationKeysPublic.HADOOP_CALLER_CONTEXT_SIGNATURE_MAX_SIZE_KEY,
        CommonConfigurationKeysPublic.HADOOP_CALLER_CONTEXT_SIGNATURE_MAX_SIZE_DEFAULT);
    logTokenTrackingId = conf.getBoolean(DFSConfigKeys.DFS_NAMENODE_AUDIT_LOG_TOKEN_TRACKING_ID_KEY,
        DFSConfigKeys.DFS_NAMENODE_AUDIT_LOG_TOKEN_TRACKING_ID_DEFAULT);
    debugCmdSet.addAll(Arrays.asList(conf.getTrimmedStrings(DFSConfigKeys.DFS_NAMENODE_AUDIT_LOG_DEBUG_CMDLIST)));
    try {
      open(AuditSettings.of(conf));
    } catch (IllegalArgumentException e) {
      throw WrongSetting.end(conf, e);
    }
    writer.start();
    ShutdownHookManager.get().addShutdownHook(writer::end, SHUTDOWN_PRIORITY);
  }

  private void open(AuditSettings settings) {
    try {
      writer = new AuditWriter(settings, callerContextMaxLen);
    } catch (IOException e) {
      throw new IllegalArgumentException(AuditSettings.FILE_KEY + ": audit lines cannot be written to "
              + settings.file() + ": " + e + "; give a file that this user may write",
          e);
    }
    others = new OtherAppenders(settings.file());
  }

  @Override
  public void logAuditEvent(boolean succeeded, String userName, InetAddress addr, String cmd, String src, String dst,
      FileStatus status, CallerContext callerContext, UserGroupInformation ugi,
      DelegationTokenSecretManager dtSecretManager) {
    if (debugCmdSet.contains(cmd) && !FSNamesystem.AUDIT_LOG.isDebugEnabled()) {
      return;
    }
    String context = null;
    byte[] signature = null;
    if (isCallerContextEnabled && callerContext != null && callerContext.isContextValid()) {
      context = callerContext.getContext();
      signature = callerContext.getSignature();
      if (signature != null && (signature.length == 0 || signature.length > callerSignatureMaxLen)) {
        signature = null;
      }
    }
    AuditEvent event = new AuditEvent(
        System.currentTimeMillis(), succeeded, userName, addr, cmd, src, dst, permission(status), logTokenTrackingId,
        logTokenTrackingId ? trackingId(ugi, dtSecretManager) : null, Server.getProtocol(), context, signature);
    writer.put(event);
    if (others.exist(event.millis())) {
      StringBuilder message = new StringBuilder();
      event.appendTo(message, callerContextMaxLen);
      others.append(event.millis(), message.toString());
    }
  }

  @Override
  public void logAuditEvent(boolean succeeded, String userName, InetAddress addr, String cmd, String src, String dst,
      FileStatus status, UserGroupInformation ugi, DelegationTokenSecretManager dtSecretManager) {
    logAuditEvent(succeeded, userName, addr, cmd, src, dst, status, null, ugi, dtSecretManager);
  }

  /** Hook of stock's logger, which this class does not use. */
  @Override
  public void logAuditMessage(String message) {
    throw new UnsupportedOperationException("RingAuditLogger formats its lines from events");
  }

  private AuditEvent.Permission permission(FileStatus status) {
    return status == null
        ? null
        : new AuditEvent.Permission(status.getOwner(), status.getGroup(), mode(status.getPermission()));
  }

  private String mode(FsPermission permission) {
    if (permission == null || permission.getClass() != FsPermission.class) {
      return String.valueOf(permission);
    }
    int number = permission.toShort() & (MODES - 1);
    String known = modes.get(number);
    if (known == null) {
      known = permission.toString();
      modes.set(number, known);
    }
    return known;
  }

  private static String trackingId(UserGroupInformation ugi, DelegationTokenSecretManager tokens) {
    if (ugi != null && tokens != null && ugi.getAuthenticationMethod() == AuthenticationMethod.TOKEN) {
      for (TokenIdentifier identifier : ugi.getTokenIdentifiers()) {
        if (identifier instanceof DelegationTokenIdentifier token) {
          return tokens.getTokenTrackingId(token);
        }
      }
    }
    return null;
  }

  AuditWriter writer() {
    return writer;
  }
}
