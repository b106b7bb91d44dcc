package org.yunti.web.velocity.compiler;

import java.util.Set;
import org.apache.velocity.runtime.directive.Break;
import org.apache.velocity.runtime.directive.Foreach;
import org.apache.velocity.runtime.parser.node.ASTBinaryOperator;
import org.apache.velocity.runtime.parser.node.ASTBlock;
import org.apache.velocity.runtime.parser.node.ASTComment;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTElseIfStatement;
import org.apache.velocity.runtime.parser.node.ASTElseStatement;
import org.apache.velocity.runtime.parser.node.ASTEscape;
import org.apache.velocity.runtime.parser.node.ASTEscapedDirective;
import org.apache.velocity.runtime.parser.node.ASTExpression;
import org.apache.velocity.runtime.parser.node.ASTIdentifier;
import org.apache.velocity.runtime.parser.node.ASTIfStatement;
import org.apache.velocity.runtime.parser.node.ASTIndex;
import org.apache.velocity.runtime.parser.node.ASTMethod;
import org.apache.velocity.runtime.parser.node.ASTNotNode;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.ASTTextblock;
import org.apache.velocity.runtime.parser.node.ASTWord;
import org.apache.velocity.runtime.parser.node.Node;
import org.yunti.web.velocity.tree.Internals;

/** Analysis of the uses of {@code $foreach} in the body of a loop. */
final class ScopeUse {
  /** Properties that only read the loop's position. */
  private static final Set<String> POSITIONS = Set.of("index", "count", "hasNext", "first", "last");
  private static final Set<Class<?>> HARMLESS = Set.of(ASTText.class, ASTTextblock.class, ASTComment.class,
      ASTEscape.class, ASTEscapedDirective.class, ASTBlock.class, ASTIfStatement.class, ASTElseStatement.class,
      ASTElseIfStatement.class, ASTExpression.class, ASTIdentifier.class, ASTMethod.class, ASTIndex.class,
      ASTNotNode.class, ASTWord.class);

  private ScopeUse() {}

  /**
   * Returns true if the body cannot keep the scope object beyond the loop: it only reads the position, and sets no
   * variable. Values that render themselves, event handlers and custom contexts can still reach it; the renderer tests
   * for these.
   */
  static boolean endsWithLoop(Node node, String scopeName) {
    if (node.getClass() == ASTReference.class) {
      ASTReference reference = (ASTReference) node;
      if (scopeName.equals(reference.getRootString()) && !readsPosition(reference)) {
        return false;
      }
    } else if (node.getClass() == ASTDirective.class) {
      ASTDirective directive = (ASTDirective) node;
      if (Internals.IS_DIRECTIVE.of(directive)) {
        Class<?> type = Internals.DIRECTIVE.of(directive).getClass();
        if (type != Foreach.class && type != Break.class) {
          return false;
        }
      }
    } else if (!HARMLESS.contains(node.getClass()) && !ValueGenerator.isConstant(node)
        && !(node instanceof ASTBinaryOperator)) {
      return false;
    }
    for (int i = 0; i < node.jjtGetNumChildren(); i++) {
      if (!endsWithLoop(node.jjtGetChild(i), scopeName)) {
        return false;
      }
    }
    return true;
  }

  private static boolean readsPosition(ASTReference reference) {
    return reference.jjtGetNumChildren() > 0
        && reference.jjtGetChild(0) instanceof ASTIdentifier property
        && POSITIONS.contains(property.getIdentifier());
  }
}
