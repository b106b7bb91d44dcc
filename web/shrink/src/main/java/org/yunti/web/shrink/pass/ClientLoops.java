package org.yunti.web.shrink.pass;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.velocity.runtime.RuntimeConstants.SpaceGobbling;
import org.apache.velocity.runtime.RuntimeInstance;
import org.apache.velocity.runtime.parser.node.ASTBlock;
import org.apache.velocity.runtime.parser.node.ASTComment;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTIfStatement;
import org.apache.velocity.runtime.parser.node.ASTSetDirective;
import org.apache.velocity.runtime.parser.node.ASTText;
import org.apache.velocity.runtime.parser.node.ASTTextblock;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.yunti.web.shrink.html.HtmlState;
import org.yunti.web.shrink.html.Places;
import org.yunti.web.shrink.vtl.ShrinkException;
import org.yunti.web.shrink.vtl.TextRun;
import org.yunti.web.shrink.vtl.VtlSource;

/**
 * Conversion of marked loops: the page sends the static text of a row once, then the values of each row. A script of
 * one line inserts the rows through the browser's HTML parser, as the page's own parser would.
 *
 * <pre>
 *   ## yunti:client-loop
 *   #foreach($p in $products)
 *   &lt;li&gt;$p.name: $p.price&lt;/li&gt;
 *   #end
 *
 * becomes
 *
 *   &lt;script&gt;(function(t,r){..})(["&lt;li&gt;",": ","&lt;/li&gt;"],[
 *     #foreach($p in $products)[#clientvalue()$p.name#end,#clientvalue()$p.price#end],#end
 *   ])&lt;/script&gt;
 * </pre>
 *
 * <p>{@code ## yunti:client-loop nonce=$nonce} gives the script the nonce of a content security policy. {@code
 * #clientvalue} is {@code org.yunti.web.delivery.ClientValue}. Without JavaScript a reader sees no rows, so only marked
 * loops are converted.
 */
public final class ClientLoops {
  private static final Pattern MARK = Pattern.compile("##\\s*yunti:client-loop(?:\\s+nonce=(\\$\\S+))?\\s*",
      Pattern.DOTALL);
  /** Script that inserts the rows before itself and removes itself. */
  private static final String SCRIPT =
      "(function(t,r){var s=document.currentScript,h=\"\";r.forEach(function(v){t.forEach(function(x,i)"
      + "{h+=x+(i<v.length?v[i]:\"\")})});s.insertAdjacentHTML(\"beforebegin\",h);s.remove()})";
  private static final Pattern LEAVES = Pattern.compile("#\\{?(break|stop|return|define|macro)\\b");

  private final RuntimeInstance engine;
  private final String name;
  private final List<String> notes = new ArrayList<>();
  private final List<Loop> loops = new ArrayList<>();
  private final String text;
  private final int count;

  private record Loop(ASTDirective foreach, Node comment, String nonce) {}

  /**
   * Converts the marked loops of a template.
   *
   * @throws ShrinkException if Velocity cannot parse the template
   */
  public ClientLoops(RuntimeInstance engine, String name, String source, Places places) throws ShrinkException {
    this.engine = engine;
    this.name = name;
    VtlSource parsed = VtlSource.parse(engine, name, source);
    find(parsed.root());
    int converted = 0;
    for (Loop loop : loops) {
      String why = convert(loop);
      if (why == null) {
        converted++;
      } else {
        notes.add(name + ":" + line(loop.foreach()) + ": the marked loop is unchanged: " + why);
      }
    }
    count = converted;
    text = converted == 0 ? source : parsed.text();
    if (converted > 0) {
      VtlSource.parse(engine, name, text);
    }
  }

  /** Returns the number of converted loops. */
  public int count() {
    return count;
  }

  /** Returns the converted template. */
  public String text() {
    return text;
  }

  /** Returns why marked loops are unchanged, one line each. */
  public List<String> notes() {
    return notes;
  }

  private void find(Node parent) {
    for (int i = 0; i < parent.jjtGetNumChildren(); i++) {
      Node child = parent.jjtGetChild(i);
      if (child instanceof ASTComment) {
        Matcher mark = MARK.matcher(VtlSource.text(child));
        if (mark.matches()) {
          Node next = i + 1 < parent.jjtGetNumChildren() ? parent.jjtGetChild(i + 1) : null;
          if (next instanceof ASTDirective directive && directive.getDirectiveName().equals("foreach")) {
            loops.add(new Loop(directive, child, mark.group(1)));
            // A loop inside of it is a value of its rows.
            i++;
            continue;
          }
          notes.add(name + ":" + line(child)
              + ": yunti:client-loop is not before a #foreach; put it on the line above one");
        }
      }
      find(child);
    }
  }

  /**
   * Converts a loop.
   *
   * @return the reason if it is unchanged; null if it is converted
   */
  private String convert(Loop loop) {
    ASTDirective foreach = loop.foreach();
    int last = foreach.jjtGetNumChildren() - 1;
    if (!(foreach.jjtGetChild(last) instanceof ASTBlock body) || foreach.jjtGetChild(last - 1) instanceof ASTBlock) {
      return "it has an #else, which is not a row; put an #if around it";
    }
    if (body.jjtGetNumChildren() == 0) {
      return "it has no row";
    }
    String source = VtlSource.text(body);
    if (LEAVES.matcher(source).find()) {
      return "a row must not contain #break, #stop, #return, #define or #macro";
    }
    if (source.toLowerCase(Locale.ROOT).contains("<script")) {
      return "scripts in rows would not run";
    }
    HtmlState state = new HtmlState();
    List<String> statics = new ArrayList<>();
    List<String> values = new ArrayList<>();
    StringBuilder piece = new StringBuilder();
    for (int i = 0; i < body.jjtGetNumChildren();) {
      Node child = body.jjtGetChild(i);
      if (child instanceof ASTText) {
        TextRun run = new TextRun(body, i);
        if (!run.isPlain()) {
          return "it has an escaped character in line " + line(child);
        }
        piece.append(run.text());
        i = run.end();
        continue;
      }
      i++;
      if (child instanceof ASTComment) {
        continue;
      }
      if (child instanceof ASTTextblock) {
        String image = VtlSource.text(child);
        piece.append(image, 3, image.length() - 3);
        continue;
      }
      String around = gobbles(child);
      piece.append(around.isEmpty() ? "" : "\n");
      if (child instanceof ASTSetDirective) {
        // #set writes nothing, but later values need its variable.
        values.add(VtlSource.text(child) + "\"\"");
      } else {
        values.add("#clientvalue()" + VtlSource.text(child) + "#end");
      }
      statics.add(piece.toString());
      piece.setLength(0);
    }
    statics.add(piece.toString());
    for (String text : statics) {
      text.chars().forEach(c -> state.next((char) c));
      state.opaque();
    }
    if (state.mode() != HtmlState.Mode.DATA || !state.squeezes()) {
      return "a row must begin and end outside of tags and of pre";
    }
    replace(loop, statics, values);
    return null;
  }

  /** The nodes of a tree that is not initialised have no lines; its tokens do. */
  private static int line(Node node) {
    return node.getFirstToken().beginLine;
  }

  /** Returns the blanks around a directive that Velocity writes. */
  private String gobbles(Node node) {
    if (engine.getSpaceGobbling() != SpaceGobbling.NONE) {
      return "";
    }
    return node instanceof ASTDirective d ? d.getPrefix() + d.getPostfix() : node instanceof ASTIfStatement s
        ? s.getPrefix()
        + s.getPostfix()
        : node instanceof ASTSetDirective s ? s.getPrefix() + s.getPostfix() : "";
  }

  private static void replace(Loop loop, List<String> statics, List<String> values) {
    ASTDirective foreach = loop.foreach();
    StringBuilder head = new StringBuilder("#foreach(");
    for (int i = 0; i < foreach.jjtGetNumChildren() - 1; i++) {
      head.append(i == 0 ? "" : " ").append(VtlSource.text(foreach.jjtGetChild(i)));
    }
    StringBuilder all = new StringBuilder("<script").append(loop.nonce() == null ? "" : " nonce=\"" + loop.nonce()
        + "\"").append('>')
        .append(SCRIPT).append("([");
    for (int i = 0; i < statics.size(); i++) {
      all.append(i == 0 ? "" : ",").append(literal(statics.get(i)));
    }
    all.append("],[").append(head).append(")[").append(String.join(",", values)).append("],#end])</script>");
    VtlSource.tokens(loop.comment()).forEach(token -> token.image = "");
    List<org.apache.velocity.runtime.parser.Token> tokens = VtlSource.tokens((SimpleNode) foreach);
    tokens.forEach(token -> token.image = "");
    tokens.get(0).image = all.toString();
  }

  /** Returns a JavaScript string literal without characters special to HTML or Velocity. */
  static String literal(String text) {
    StringBuilder literal = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> literal.append("\\u0022");
        case '\\' -> literal.append("\\u005c");
        case '\n' -> literal.append("\\n");
        case '\r' -> literal.append("\\r");
        case '<', '$', '#', '&', '\u2028', '\u2029' -> literal.append(String.format("\\u%04x", (int) c));
        default -> literal.append(c);
      }
    }
    return literal.append('"').toString();
  }
}
