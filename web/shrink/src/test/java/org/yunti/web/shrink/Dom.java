package org.yunti.web.shrink;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Comment;
import org.jsoup.nodes.DataNode;
import org.jsoup.nodes.Node;
import org.jsoup.nodes.TextNode;

/** What a reader sees of a page: its tree, its attributes, and its text with the blanks that are shown. */
final class Dom {
  private static final Set<String> KEPT = Set.of("pre", "listing", "textarea", "script", "style", "title", "xmp", "iframe", "noembed",
      "noframes",
      "plaintext");
  private static final Set<String> TABLES = Set.of("#root", "html", "head", "body", "table", "caption", "colgroup", "col", "thead",
      "tbody", "tfoot",
      "tr", "td", "th", "option", "optgroup");
  private static final Set<String> BLOCKS = Set.of("div", "p", "ul", "li", "ol", "h1", "h2", "h3", "section", "form", "header", "main",
      "nav");

  private final boolean takesBlocks;
  private final List<String> seen = new ArrayList<>();

  private Dom(boolean takesBlocks) {
    this.takesBlocks = takesBlocks;
  }

  static List<String> of(String page, boolean takesBlocks) {
    Dom dom = new Dom(takesBlocks);
    dom.visit(Jsoup.parse(page), false);
    return dom.seen;
  }

  private void visit(Node node, boolean isKept) {
    if (node instanceof TextNode text) {
      String shown = isKept ? text.getWholeText() : text.getWholeText().replaceAll("[ \t\r\n\f]+", " ");
      if (!isKept) {
        shown = trim(text, shown);
      }
      if (!shown.isEmpty()) {
        seen.add("\"" + shown + "\"");
      }
    } else if (node instanceof DataNode data) {
      seen.add("data " + data.getWholeData());
    } else if (node instanceof Comment comment) {
      seen.add("comment " + comment.getData());
    } else {
      String name = node.nodeName();
      seen.add("<" + name + " " + node.attributes().asList());
      boolean keeps = isKept || KEPT.contains(name) || node.attr("style").contains("white-space");
      node.childNodes().forEach(child -> visit(child, keeps));
      seen.add("</" + name);
    }
  }

  private String trim(TextNode text, String shown) {
    String trimmed = shown;
    if (isEdge(text.previousSibling(), text)) {
      trimmed = trimmed.replaceFirst("^ ", "");
    }
    if (isEdge(text.nextSibling(), text)) {
      trimmed = trimmed.replaceFirst(" $", "");
    }
    return text.parent().nodeName().equals("head") ? trimmed.strip() : trimmed;
  }

  private boolean isEdge(Node beside, TextNode text) {
    String name = beside == null ? text.parent().nodeName() : beside.nodeName();
    if (beside == null && BLOCKS.contains(name)) {
      // The beginning or end of a line.
      return true;
    }
    return TABLES.contains(name) || takesBlocks && BLOCKS.contains(name);
  }
}
