package org.yunti.web.shrink.pass;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.velocity.runtime.parser.Token;
import org.apache.velocity.runtime.parser.node.ASTBlock;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTIfStatement;
import org.apache.velocity.runtime.parser.node.ASTSetDirective;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.yunti.web.shrink.html.HtmlState;
import org.yunti.web.shrink.vtl.VtlSource;

/**
 * Facts of a template that squeezing must not change: the tree without its static text, all tokens outside of that
 * text, the blanks that each directive gobbles, and the text without blanks. They come from a new parse of the result,
 * which detects faults of the pass.
 */
public final class Sameness {
  private final List<String> facts = new ArrayList<>();
  private final Set<Token> textTokens = Collections.newSetFromMap(new IdentityHashMap<>());

  private Sameness() {}

  /** Returns the facts of a parsed template. */
  public static List<String> of(SimpleNode root) {
    Sameness sameness = new Sameness();
    sameness.visit(root, 0);
    sameness.tokens(root.getFirstToken());
    return sameness.facts;
  }

  private void visit(Node node, int depth) {
    if (node instanceof ASTText) {
      textTokens.addAll(VtlSource.tokens(node));
      return;
    }
    facts.add(depth + " " + node.getClass().getSimpleName() + gobbled(node));
    for (int i = 0; i < node.jjtGetNumChildren(); i++) {
      visit(node.jjtGetChild(i), depth + 1);
    }
  }

  private void tokens(Token first) {
    StringBuilder text = new StringBuilder();
    for (Token token = first; token != null; token = token.next) {
      if (textTokens.contains(token)) {
        token.image.chars().filter(c -> !HtmlState.isBlank((char) c)).forEach(c -> text.append((char) c));
      } else if (VtlSource.isSource(token)) {
        if (!text.isEmpty()) {
          facts.add("text " + text);
          text.setLength(0);
        }
        facts.add(token.kind + " " + token.image);
      }
    }
    facts.add("text " + text);
  }

  private static String gobbled(Node node) {
    if (node instanceof ASTDirective d) {
      return " [" + d.getPrefix() + "][" + d.getPostfix() + "]";
    }
    if (node instanceof ASTBlock b) {
      return " [" + b.getPrefix() + "][" + b.getPostfix() + "]";
    }
    if (node instanceof ASTIfStatement s) {
      return " [" + s.getPrefix() + "][" + s.getPostfix() + "]";
    }
    if (node instanceof ASTSetDirective s) {
      return " [" + s.getPrefix() + "][" + s.getPostfix() + "]";
    }
    return "";
  }
}
