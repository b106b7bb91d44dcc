package org.yunti.web.velocity.compiler;

import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.velocity.runtime.parser.node.ASTComment;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.ASTStringLiteral;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.Node;
import org.yunti.web.velocity.tree.Internals;

/** Estimated bytes of bytecode of a node, so that no method grows beyond the JIT's limits. */
final class Cost {
  private final Map<Node, Integer> known = new IdentityHashMap<>();

  int of(Node node) {
    Integer cost = known.get(node);
    if (cost == null) {
      cost = own(node);
      for (int i = 0; i < node.jjtGetNumChildren(); i++) {
        cost += of(node.jjtGetChild(i));
      }
      if (node instanceof ASTStringLiteral string && !string.isConstant()) {
        cost += of(Internals.STRING_TREE.of(string));
      }
      known.put(node, cost);
    }
    return cost;
  }

  private static int own(Node node) {
    if (node instanceof ASTText || node instanceof ASTComment) {
      return 8;
    }
    if (node instanceof ASTReference) {
      return 45;
    }
    return node instanceof ASTDirective ? 150 : 25;
  }
}
