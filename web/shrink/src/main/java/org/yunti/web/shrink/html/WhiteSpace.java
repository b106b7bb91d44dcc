package org.yunti.web.shrink.html;

import java.util.Locale;
import java.util.Set;
import org.apache.velocity.runtime.RuntimeConstants.SpaceGobbling;

/** Squeezing of static text: a run of blanks becomes one, or none where it is never visible. */
public final class WhiteSpace {
  /** Tags at whose edges blanks are never visible. */
  private static final Set<String> TABLES = Set.of("html", "head", "body", "table", "caption", "colgroup", "col",
      "thead", "tbody", "tfoot", "tr",
      "td", "th", "option", "optgroup");
  /** Tags at whose edges blanks are not visible unless a style sheet makes them inline. */
  private static final Set<String> BLOCKS = Set.of("address", "article", "aside", "blockquote", "center", "dd",
      "details", "dialog", "dir", "div",
      "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
      "hgroup", "hr",
          "li", "main",
      "menu", "nav", "ol", "p", "search", "section", "summary", "ul");

  private final boolean takesBlocks;
  /** Only merges blanks at the edges of static text. */
  private final boolean isCareful;
  /** Structured gobbling removes indentation by the beginning of a block's first text, so beginnings stay unchanged. */
  private final boolean isStructured;
  /** Gobbling of Velocity 1 removes all blanks before #set if nothing else is before it. */
  private final boolean isBackwardCompatible;

  /**
   * Creates the rules.
   *
   * @param takesBlocks true removes white space at the edges of block elements too
   * @param isCareful true only merges blanks at the edges of static text
   * @param gobbling mode of space gobbling, whose effects the result must keep
   */
  public WhiteSpace(boolean takesBlocks, boolean isCareful, SpaceGobbling gobbling) {
    this.takesBlocks = takesBlocks;
    this.isCareful = isCareful;
    isStructured = gobbling == SpaceGobbling.STRUCTURED;
    isBackwardCompatible = gobbling == SpaceGobbling.BC;
  }

  /** Returns the number of text nodes in one run: structured gobbling treats each node separately. */
  public int nodesMax() {
    return isStructured ? 1 : Integer.MAX_VALUE;
  }

  /** Returns true if Velocity may write nothing for this text, because it is before #set. */
  public boolean isGobbledBeforeSet(String text) {
    return isBackwardCompatible && text.chars().allMatch(c -> HtmlState.isBlank((char) c));
  }

  /**
   * Squeezes a text.
   *
   * @param state state at the beginning of the text; afterwards, at its end
   * @param keepsLine true if Velocity gobbles by the line end at the end of the text
   */
  public String squeeze(String text, HtmlState state, boolean keepsLine) {
    StringBuilder out = new StringBuilder(text.length());
    int n = text.length();
    for (int i = 0; i < n;) {
      char c = text.charAt(i);
      if (!HtmlState.isBlank(c) || !state.squeezes()) {
        out.append(c);
        state.next(c);
        // After the name of a tag, the first blank stays.
        state.endsBlank = HtmlState.isBlank(c) && state.squeezes();
        i++;
        continue;
      }
      int end = i;
      boolean hasLine = false;
      while (end < n && HtmlState.isBlank(text.charAt(end))) {
        hasLine |= text.charAt(end++) == '\n';
      }
      if (i == 0 && isStructured) {
        out.append(text, 0, end);
        String tag = state.lastTag;
        state.next(' ');
        state.lastTag = tag;
        i = end;
        continue;
      }
      boolean isEdge = i == 0 || end == n;
      boolean mayGo = !(hasLine && keepsLine && end == n) && !(isEdge && isCareful);
      if (!mayGo || !state.endsBlank && !isInvisible(state, text, end)) {
        out.append(hasLine ? '\n' : ' ');
        String tag = state.lastTag;
        state.next(' ');
        state.lastTag = tag;
        state.endsBlank = true;
      }
      i = end;
    }
    return out.toString();
  }

  private boolean isInvisible(HtmlState state, String text, int next) {
    if (state.mode() != HtmlState.Mode.DATA) {
      return false;
    }
    return state.isInHead() && (!state.lastTag.isEmpty() || next < text.length() && text.charAt(next) == '<')
        || isEdge(state.lastTag) || isEdge(tagAt(text, next));
  }

  private boolean isEdge(String tag) {
    String name = tag.startsWith("/") ? tag.substring(1) : tag;
    return TABLES.contains(name) || takesBlocks && BLOCKS.contains(name);
  }

  /** Returns the name of the tag that begins here if the text has all of the name; else "". */
  private static String tagAt(String text, int at) {
    if (at >= text.length() || text.charAt(at) != '<') {
      return "";
    }
    int from = at + 1 < text.length() && text.charAt(at + 1) == '/' ? at + 2 : at + 1;
    int end = from;
    while (end < text.length() && Character.isLetterOrDigit(text.charAt(end))) {
      end++;
    }
    boolean isWhole = end < text.length() && (HtmlState.isBlank(text.charAt(end)) || text.charAt(end) == '>'
        || text.charAt(end) == '/');
    return isWhole ? text.substring(from, end).toLowerCase(Locale.ROOT) : "";
  }
}
