package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.parser.node.ASTReference;

/** What is known of a reference when it is compiled. */
public final class ReferenceSite {
  private static final int QUIET = 3;

  final EngineFacts engine;
  final ASTReference node;
  /** The variable that it begins with. */
  final String root;
  /** The source, which handlers of inserted references are told. */
  final String literal;
  /** Written before the value. */
  final String prefix;
  final String escapePrefix;
  /** Written where there is no value. */
  final String nullString;
  final boolean isQuiet;
  final boolean logsNull;
  final boolean isStrict;
  /** Where the variable is null, stock asks whether it was set. */
  final boolean asksWhetherSet;

  public ReferenceSite(EngineFacts engine, ASTReference node, boolean hasChildren) {
    this.engine = engine;
    this.node = node;
    root = node.getRootString();
    literal = node.literal();
    escapePrefix = Internals.escapePrefix(node);
    prefix = escapePrefix + Internals.morePrefix(node);
    nullString = Internals.nullString(node);
    isQuiet = Internals.referenceType(node) == QUIET;
    logsNull = Internals.logsNull(node);
    isStrict = node.strictRef;
    boolean warnsQuiet = engine.services.getBoolean(RuntimeConstants.EVENTHANDLER_INVALIDREFERENCES_QUIET, false);
    asksWhetherSet = !isStrict && (!isQuiet || warnsQuiet) && !hasChildren;
  }
}
