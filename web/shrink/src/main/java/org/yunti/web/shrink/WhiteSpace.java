package org.yunti.web.shrink;

import java.util.Locale;
import java.util.Set;
import org.apache.velocity.runtime.RuntimeConstants.SpaceGobbling;

/** Squeezes static text: a run of blanks becomes one, or none where it can never be seen. */
final class WhiteSpace {
  /** Between and inside of these tags, at their edges, blanks are never shown. */
  private static final Set<String> TABLES = Set.of("html", "head", "body", "table", "caption", "colgroup", "col", "thead", "tbody",
      "tfoot", "tr",
      "td", "th", "option", "optgroup");
  /** Nor at the edges of these, unless a style sheet makes them inline. */
  private static final Set<String> BLOCKS = Set.of("address", "article", "aside", "blockquote", "center", "dd", "details", "dialog",
      "dir", "div",
      "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr",
          "li", "main",
      "menu", "nav", "ol", "p", "search", "section", "summary", "ul");

  private final boolean takesBlocks;
  /** Changes nothing at the edges of static text beyond making one blank of several. */
  private final boolean isCareful;
  /** Structured gobbling takes indentation away itself, by what the first text of a block begins with: the beginnings stay as they are. */
  private final boolean isStructured;
  /** The gobbling of Velocity 1 takes away all blanks before #set where nothing else is before it. */
  private final boolean isBackwardCompatible;

  WhiteSpace(boolean takesBlocks, boolean isCareful, SpaceGobbling gobbling) {
    this.takesBlocks = takesBlocks;
    this.isCareful = isCareful;
    isStructured = gobbling == SpaceGobbling.STRUCTURED;
    isBackwardCompatible = gobbling == SpaceGobbling.BC;
  }

  /** How many nodes of text are taken as one: structured gobbling looks at each of them. */
  int nodesMax() {
    return isStructured ? 1 : Integer.MAX_VALUE;
  }

  /** Whether Velocity may write nothing for this text, since it stands before #set. */
  boolean isGobbledBeforeSet(String text) {
    return isBackwardCompatible && text.chars().allMatch(c -> HtmlState.isBlank((char) c));
  }

  /**
   * @param state where the text begins; afterwards, where it ends
   * @param keepsLine whether Velocity looks at the end of the line behind which the text ends, to gobble what is around a directive
   */
  String squeeze(String text, HtmlState state, boolean keepsLine) {
    StringBuilder out = new StringBuilder(text.length());
    int n = text.length();
    for (int i = 0; i < n;) {
      char c = text.charAt(i);
      if (!HtmlState.isBlank(c) || !state.squeezes()) {
        out.append(c);
        state.next(c);
        // Behind the name of a tag, the first of its blanks is the one that stays.
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

  /** The name of the tag that begins here, if all of it stands here; else "". */
  private static String tagAt(String text, int at) {
    if (at >= text.length() || text.charAt(at) != '<') {
      return "";
    }
    int from = at + 1 < text.length() && text.charAt(at + 1) == '/' ? at + 2 : at + 1;
    int end = from;
    while (end < text.length() && Character.isLetterOrDigit(text.charAt(end))) {
      end++;
    }
    boolean isWhole = end < text.length() && (HtmlState.isBlank(text.charAt(end)) || text.charAt(end) == '>' || text.charAt(end) == '/');
    return isWhole ? text.substring(from, end).toLowerCase(Locale.ROOT) : "";
  }
}
