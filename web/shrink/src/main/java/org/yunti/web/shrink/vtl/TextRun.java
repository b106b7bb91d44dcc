package org.yunti.web.shrink.vtl;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.runtime.parser.StandardParserConstants;
import org.apache.velocity.runtime.parser.Token;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.Node;

/** Run of static text, which Velocity splits into adjacent nodes. */
public final class TextRun {
  private final List<Token> tokens = new ArrayList<>();
  private final int end;

  /** Creates the run that begins with a child. */
  public TextRun(Node parent, int first) {
    this(parent, first, Integer.MAX_VALUE);
  }

  /**
   * Creates a run of limited length.
   *
   * @param max nodes at most
   */
  public TextRun(Node parent, int first, int max) {
    int i = first;
    while (i - first < max && i < parent.jjtGetNumChildren() && parent.jjtGetChild(i) instanceof ASTText text) {
      tokens.addAll(VtlSource.tokens(text));
      i++;
    }
    end = i;
  }

  /** Returns the number of the child after the run. */
  public int end() {
    return end;
  }

  /** Returns the text of the run. */
  public String text() {
    StringBuilder text = new StringBuilder();
    tokens.forEach(token -> text.append(token.image));
    return text.toString();
  }

  /** Returns true if the text is written unchanged, so that it may be replaced. */
  public boolean isPlain() {
    return tokens.stream().allMatch(token -> token.kind != StandardParserConstants.MULTI_LINE_COMMENT
        && token.kind != StandardParserConstants.ESCAPE && token.kind != StandardParserConstants.DOUBLE_ESCAPE
        && token.kind != StandardParserConstants.LONE_SYMBOL);
  }

  /** Replaces the text of the run. */
  public void replace(String text) {
    tokens.forEach(token -> token.image = "");
    tokens.get(0).image = text;
  }
}
