package org.yunti.web.velocity.compiler;

import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.parser.node.Node;

/** Reasons why a node is interpreted: what the node is, why it is not compiled, and what to do. */
final class Reasons {
  private Reasons() {}

  static String expressionTooLarge() {
    return "expression of more than " + ValueGenerator.HUGE
        + " bytes of bytecode, which is too large for a method; split it with #set";
  }

  static String tooManyArguments(Node call) {
    return "call with " + (call.jjtGetNumChildren() - 1)
        + " arguments, which is too many for a method handle; pass a list";
  }

  static String directive(Directive directive) {
    return "directive of class " + directive.getClass().getName()
        + ", which runs its own code; nothing to do, its block is compiled";
  }

  static String unknownNode(Node node) {
    return "node of class " + node.getClass().getName()
        + ", which Velocity 2.4.1 does not create; nothing to do, the page is the same";
  }
}
