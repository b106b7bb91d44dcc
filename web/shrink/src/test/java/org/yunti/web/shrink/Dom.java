package org.yunti.web.shrink;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Comment;
import org.jsoup.nodes.DataNode;
import org.jsoup.nodes.Node;
import org.jsoup.nodes.TextNode;

/**
 * Visible content of a page: its tree, its attributes, and its text with visible blanks. Of adjacent blanks across
 * inline tags the first is visible, and none at either end of a line (CSS Text 3, 4.1.1 and 4.1.2).
 */
final class Dom {
  private static final Set<String> KEPT = Set.of("pre", "listing", "textarea", "script", "style", "title", "xmp",
      "iframe", "noembed", "noframes",
      "plaintext");
  private static final Set<String> TABLES = Set.of("#root", "html", "head", "body", "table", "caption", "colgroup",
      "col", "thead", "tbody", "tfoot",
      "tr", "td", "th", "option", "optgroup");
  private static final Set<String> BLOCKS = Set.of("div", "p", "ul", "li", "ol", "h1", "h2", "h3", "section", "form",
      "header", "main", "nav");

  /** Inline elements with visible content of their own, or whose text is not part of the line. */
  private static final Set<String> CONTENT = Set.of("img", "br", "select", "textarea", "pre", "listing", "hr", "input",
      "button", "iframe");

  private final boolean takesBlocks;
  private final List<String> visible = new ArrayList<>();
  /**
   * Index in {@link #visible} of a text of this line that ends with a blank, followed only by inline tags; -1: none.
   */
  private int blank = -1;
  private boolean isLineEmpty = true;

  private Dom(boolean takesBlocks) {
    this.takesBlocks = takesBlocks;
  }

  static List<String> of(String page, boolean takesBlocks) {
    Dom dom = new Dom(takesBlocks);
    dom.visit(Jsoup.parse(page), false);
    dom.visible.removeIf("\"\""::equals);
    return dom.visible;
  }

  private void visit(Node node, boolean isKept) {
    if (node instanceof TextNode text) {
      if (isKept) {
        visible.add("\"" + text.getWholeText() + "\"");
        content();
      } else {
        text(text.getWholeText().replaceAll("[ \t\r\n\f]+", " "), text.parent().nodeName().equals("head"));
      }
    } else if (node instanceof DataNode data) {
      visible.add("data " + data.getWholeData());
    } else if (node instanceof Comment comment) {
      visible.add("comment " + comment.getData());
    } else {
      String name = node.nodeName();
      boolean keeps = isKept || KEPT.contains(name) || node.attr("style").contains("white-space");
      boolean isEdge = TABLES.contains(name) || takesBlocks && BLOCKS.contains(name);
      boolean isBlock = isEdge || BLOCKS.contains(name);
      edge(isEdge, isBlock || CONTENT.contains(name));
      isLineEmpty |= isBlock;
      visible.add("<" + name + " " + node.attributes().asList());
      node.childNodes().forEach(child -> visit(child, keeps));
      edge(isBlock, CONTENT.contains(name));
      isLineEmpty = isEdge || isLineEmpty && !isBlock;
      visible.add("</" + name);
    }
  }

  private void text(String squeezed, boolean isInHead) {
    String shown = isInHead ? squeezed.strip() : (blank >= 0 || isLineEmpty) && squeezed.startsWith(" ")
        ? squeezed.substring(1) : squeezed;
    if (!shown.isEmpty()) {
      visible.add("\"" + shown + "\"");
      isLineEmpty = false;
      blank = shown.endsWith(" ") ? visible.size() - 1 : -1;
    }
  }

  /** Adds a tag, which ends a line or is visible in it. */
  private void edge(boolean endsLine, boolean isContent) {
    if (endsLine) {
      if (blank >= 0) {
        visible.set(blank, visible.get(blank).replaceFirst(" \"$", "\""));
      }
      blank = -1;
      isLineEmpty = true;
    } else if (isContent) {
      content();
    }
  }

  private void content() {
    blank = -1;
    isLineEmpty = false;
  }
}
