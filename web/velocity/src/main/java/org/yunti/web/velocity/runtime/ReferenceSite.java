package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.parser.node.ASTReference;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.Internals;

/** What is known of a reference when it is compiled. */
public final class ReferenceSite {
  private static final int QUIET = 3;

  public final EngineFacts engine;
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
    escapePrefix = Internals.ESCAPE_PREFIX.of(node);
    prefix = escapePrefix + Internals.MORE_PREFIX.of(node);
    nullString = Internals.NULL_STRING.of(node);
    isQuiet = Internals.REFERENCE_TYPE.of(node) == QUIET;
    logsNull = Internals.LOGS_NULL.of(node);
    isStrict = node.strictRef;
    asksWhetherSet = !isStrict && (!isQuiet || engine.asksForQuiet) && !hasChildren;
  }
}
