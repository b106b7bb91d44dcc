package org.yunti.web.shrink.vtl;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.velocity.Template;
import org.apache.velocity.runtime.RuntimeInstance;
import org.apache.velocity.runtime.parser.ParseException;
import org.apache.velocity.runtime.parser.StandardParserConstants;
import org.apache.velocity.runtime.parser.Token;
import org.apache.velocity.runtime.parser.TokenMgrError;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;

/**
 * Source of a template as Velocity's parser reads it: its tree, not initialised, and its tokens, whose images in
 * sequence are the source. A change of a token's image changes the source only there.
 */
public final class VtlSource {
  private static final Set<Integer> DIRECTIVES = Set.of(StandardParserConstants.END, StandardParserConstants.ELSE,
      StandardParserConstants.ELSEIF,
      StandardParserConstants.IF_DIRECTIVE, StandardParserConstants.SET_DIRECTIVE, StandardParserConstants.WORD,
      StandardParserConstants.BRACKETED_WORD, StandardParserConstants.SINGLE_LINE_COMMENT_START,
      StandardParserConstants.MULTI_LINE_COMMENT, StandardParserConstants.FORMAL_COMMENT);

  private final SimpleNode root;
  private final Token first;

  private VtlSource(SimpleNode root) {
    this.root = root;
    first = root.getFirstToken();
  }

  /**
   * Parses a template.
   *
   * @return the source, whose {@link #text} equals {@code source}
   * @throws ShrinkException if Velocity cannot parse it, or its tokens do not equal its source
   */
  public static VtlSource parse(RuntimeInstance engine, String name, String source) throws ShrinkException {
    Template template = new Template();
    template.setName(name);
    VtlSource parsed;
    try {
      parsed = new VtlSource(engine.parse(new StringReader(source), template));
    } catch (ParseException | TokenMgrError e) {
      throw new ShrinkException(name + ": Velocity cannot parse it: " + firstLine(e.getMessage()));
    }
    parsed.align(source);
    if (!parsed.text().equals(source)) {
      throw new ShrinkException(name + ": Velocity's tokens differ from its source");
    }
    return parsed;
  }

  /**
   * Adds text to tokens that the lexer read but left out. It keeps only the ends of comments; characters that begin no
   * reference and no directive are before the next token. If this does not explain the source, the tokens stay
   * different, which {@link #parse} detects.
   */
  private void align(String source) {
    int at = 0;
    Token last = null;
    for (Token token = first; token != null; token = token.next) {
      if (!isSource(token)) {
        continue;
      }
      int from = at;
      switch (token.kind) {
        case StandardParserConstants.SINGLE_LINE_COMMENT -> {
          while (at < source.length() && source.charAt(at) != '\n' && source.charAt(at) != '\r') {
            at++;
          }
        }
        case StandardParserConstants.MULTI_LINE_COMMENT, StandardParserConstants.FORMAL_COMMENT ->
          at = Math.max(at, source.indexOf("*#", Math.min(source.length(), at + 2)));
        default -> at = signs(source, at, token.image);
      }
      if (!source.startsWith(token.image, at)) {
        return;
      }
      at += token.image.length();
      token.image = source.substring(from, at);
      last = token;
    }
    if (last != null && signs(source, at, "") == source.length()) {
      last.image += source.substring(at);
    } else if (last != null && last.kind == StandardParserConstants.SINGLE_LINE_COMMENT_START) {
      last.image += source.substring(at);
    }
  }

  /** Returns the position of an image after special characters, or {@code from} if it is not there. */
  private static int signs(String source, int from, String image) {
    int at = from;
    while (at < source.length() && (image.isEmpty() || !source.startsWith(image, at))
        && "#$\\!{".indexOf(source.charAt(at)) >= 0) {
      at++;
    }
    return source.startsWith(image, at) ? at : from;
  }

  /** Returns false for the token of the end of the file and other tokens without text. */
  public static boolean isSource(Token token) {
    return token.kind != StandardParserConstants.EOF && token.kind != StandardParserConstants.ZERO_WIDTH_WHITESPACE;
  }

  /** Returns the first line of a parser's message. */
  public static String firstLine(String message) {
    return message == null ? "no reason is given" : message.strip().split("\\R", 2)[0];
  }

  /** Returns the root of the syntax tree. */
  public SimpleNode root() {
    return root;
  }

  /** Returns the source from the tokens' present images. */
  public String text() {
    StringBuilder text = new StringBuilder();
    for (Token token = first; token != null; token = token.next) {
      append(text, token);
    }
    return text.toString();
  }

  /**
   * Returns true if a token of a directive contains text: in {@code $$#end} the parser makes {@code $$} a part of the
   * end.
   */
  public boolean hidesText() {
    for (Token token = first; token != null; token = token.next) {
      if (DIRECTIVES.contains(token.kind) && token.image.indexOf('#') > 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns the source of a node, without the blanks before and the line end after it that belong to a directive. */
  public static String text(Node node) {
    List<Token> tokens = tokens(node);
    if (!(node instanceof ASTText)) {
      while (!tokens.isEmpty() && isBlank(tokens.get(0))) {
        tokens.remove(0);
      }
      while (!tokens.isEmpty() && isBlank(tokens.get(tokens.size() - 1))) {
        tokens.remove(tokens.size() - 1);
      }
    }
    StringBuilder text = new StringBuilder();
    tokens.forEach(token -> append(text, token));
    return text.toString();
  }

  private static boolean isBlank(Token token) {
    return token.kind == StandardParserConstants.WHITESPACE || token.kind == StandardParserConstants.NEWLINE;
  }

  /** Special tokens are terminators: the lexer reads them again as ordinary tokens. */
  private static void append(StringBuilder text, Token token) {
    if (isSource(token)) {
      text.append(token.image);
    }
  }

  /** Returns the tokens of a node. A node without text has none: the parser gives it the next token as its first. */
  public static List<Token> tokens(Node node) {
    List<Token> tokens = new ArrayList<>();
    Token end = node.getLastToken();
    if (end == null || end.next == node.getFirstToken()) {
      return tokens;
    }
    for (Token token = node.getFirstToken(); token != end; token = token.next) {
      tokens.add(token);
    }
    tokens.add(end);
    tokens.removeIf(token -> !isSource(token));
    return tokens;
  }
}
