package org.yunti.web.velocity.runtime;

import org.apache.velocity.runtime.parser.node.ASTReference;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.Internals;

/** Facts of a reference, known when it is compiled. */
public final class ReferenceSite {
  private static final int QUIET = 3;

  /** Facts of the engine. */
  public final EngineFacts engine;
  final ASTReference node;
  /** Variable at the beginning of the reference. */
  final String root;
  /** Source, which handlers of inserted references receive. */
  final String literal;
  /** Text before the value. */
  final String prefix;
  final String escapePrefix;
  /** Text written if there is no value. */
  final String nullString;
  final boolean isQuiet;
  final boolean logsNull;
  final boolean isStrict;
  /** True if a null variable needs the lookup of Velocity, whether it was set. */
  final boolean checksWhetherSet;

  /** Reads the facts of a reference from its node. */
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
    checksWhetherSet = !isStrict && (!isQuiet || engine.reportsQuiet) && !hasChildren;
  }
}
