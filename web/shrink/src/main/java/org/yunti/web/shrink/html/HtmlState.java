package org.yunti.web.shrink.html;

import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * State of HTML's tokenizer before a character: the part of it that decides where white space may be squeezed.
 *
 * <pre>
 *   DATA --&lt;--> TAG_OPEN --name--> TAG_NAME --blank--> TAG --=--> AFTER_EQUALS --> DOUBLE, SINGLE, UNQUOTED --> TAG
 *                                   (AFTER_NAME: in TAG on another branch)
 *                  |--!--> DECLARATION or COMMENT
 *   TAG --&gt;--> DATA
 *         &gt; of script, style, textarea, ..: RAW, until the end tag
 *         &gt; of pre, or of an element with style white-space: blanks are kept until the end tag
 * </pre>
 */
public final class HtmlState {
  /** Part of the page that the next character belongs to. */
  public enum Mode { DATA, TAG_OPEN, TAG_NAME, AFTER_NAME, TAG, AFTER_EQUALS, DOUBLE, SINGLE, UNQUOTED, COMMENT,
      DECLARATION, RAW, UNKNOWN }

  /** Elements whose content is no HTML, or whose blanks all count. */
  private static final Set<String> RAW_ELEMENTS = Set.of("script", "style", "textarea", "title", "xmp", "iframe",
      "noembed", "noframes", "plaintext");
  /** Elements whose blanks are visible. */
  private static final Set<String> KEPT_ELEMENTS = Set.of("pre", "listing");
  private static final Set<String> VOID_ELEMENTS = Set.of("area", "base", "br", "col", "embed", "hr", "img", "input",
      "link", "meta", "source", "track", "wbr");

  private Mode mode = Mode.DATA;
  /** Current tag in lower case, with / before an end tag; in RAW, the element; in COMMENT, its last characters. */
  private String name = "";
  /** Static attributes of the tag; null outside of a tag. */
  private StringBuilder attributes;
  /** Element whose blanks are kept; "" if none. {@code keptDepth}: open elements of that name. */
  private String kept = "";
  private int keptDepth;
  private boolean isInHead;
  /** Last characters of a raw element, with its end tag when it has come. */
  private final StringBuilder raw = new StringBuilder();
  /** True if the last character written is a blank that merges with the next one; not compared. */
  boolean endsBlank;
  /** Tag that has just ended; "" after any other text; not compared. */
  String lastTag = "";

  /** Creates the state at the beginning of a page. */
  public HtmlState() {}

  /** Creates the state inside of a mode. */
  public HtmlState(Mode mode) {
    this.mode = mode;
    attributes = mode == Mode.TAG ? new StringBuilder() : null;
  }

  /** Returns true if the last character written is a blank that merges with the next one. */
  public boolean endsBlank() {
    return endsBlank;
  }

  /** Sets whether the last character written is a blank that merges with the next one. */
  public void endsBlank(boolean isBlank) {
    endsBlank = isBlank;
  }

  /** Returns a copy that changes independently. */
  public HtmlState copy() {
    HtmlState copy = new HtmlState();
    copy.mode = mode;
    copy.name = name;
    copy.raw.append(raw);
    copy.attributes = attributes == null ? null : new StringBuilder(attributes);
    copy.kept = kept;
    copy.keptDepth = keptDepth;
    copy.isInHead = isInHead;
    copy.endsBlank = endsBlank;
    copy.lastTag = lastTag;
    return copy;
  }

  /** Returns the current mode. */
  public Mode mode() {
    return mode;
  }

  boolean isInHead() {
    return isInHead;
  }

  /** Returns true if a blank here may be squeezed. */
  public boolean squeezes() {
    return kept.isEmpty() && (mode == Mode.DATA || mode == Mode.TAG);
  }

  /** Returns true if this is inside of a tag, where text is not content. */
  boolean isInTag() {
    return mode == Mode.TAG || mode == Mode.TAG_NAME || mode == Mode.AFTER_NAME || mode == Mode.AFTER_EQUALS;
  }

  /** Returns true if later text is read alike in both states. */
  public boolean sameAs(HtmlState other) {
    return mode == other.mode && kept.equals(other.kept) && keptDepth == other.keptDepth
        && (isPlain() || Objects.equals(name, other.name));
  }

  private boolean isNamed() {
    return mode == Mode.TAG_NAME || mode == Mode.AFTER_NAME || mode == Mode.TAG;
  }

  private boolean isPlain() {
    return mode == Mode.DATA || mode == Mode.UNKNOWN;
  }

  /** Joins the states of two branches. */
  public HtmlState join(HtmlState other) {
    if (isNamed() && other.isNamed() && mode != other.mode && name.equals(other.name) && kept.equals(other.kept)) {
      // <li#if(..) class="x"#end: the name ends here unless the next character belongs to it.
      HtmlState joined = copy();
      joined.mode = Mode.AFTER_NAME;
      joined.endsBlank = false;
      joined.attributes.append(other.attributes);
      return joined;
    }
    if (!sameAs(other)) {
      return new HtmlState(Mode.UNKNOWN);
    }
    HtmlState joined = copy();
    joined.endsBlank &= other.endsBlank;
    joined.isInHead &= other.isInHead;
    joined.lastTag = lastTag.equals(other.lastTag) ? lastTag : "";
    if (attributes != null && other.attributes != null && !attributes.toString().contentEquals(other.attributes)) {
      joined.attributes.append(other.attributes);
    }
    return joined;
  }

  /** Records unknown output: whole elements in DATA; whole attributes or a part of one in a tag. */
  public void opaque() {
    endsBlank = false;
    lastTag = "";
    switch (mode) {
      case TAG_OPEN -> {
        // <$tag: any element, also pre
        mode = Mode.UNKNOWN;
        name = "";
      }
      case TAG_NAME -> {
        // h$level cannot be pre; p$x can.
        String prefix = name;
        if (RAW_ELEMENTS.stream().anyMatch(e -> e.startsWith(prefix)) || KEPT_ELEMENTS.stream()
            .anyMatch(e -> e.startsWith(prefix))) {
          mode = Mode.UNKNOWN;
        }
      }
      case AFTER_EQUALS -> mode = Mode.UNQUOTED;
      case AFTER_NAME -> unknown();
      default -> { }
    }
  }

  /** Enters {@link Mode#UNKNOWN} and forgets the last tag. */
  public void unknown() {
    mode = Mode.UNKNOWN;
    endsBlank = false;
    lastTag = "";
  }

  /** Returns true for the white space of HTML. */
  public static boolean isBlank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
  }

  /** Reads one character of static text. */
  public void next(char c) {
    if (mode != Mode.DATA || !isBlank(c)) {
      lastTag = "";
    }
    switch (mode) {
      case DATA -> {
        if (c == '<') {
          mode = Mode.TAG_OPEN;
          name = "";
        }
      }
      case TAG_OPEN -> open(c);
      case TAG_NAME -> {
        if (c == '>') {
          end();
        } else if (isBlank(c) || c == '/') {
          mode = Mode.TAG;
        } else {
          name += Character.toString(c).toLowerCase(Locale.ROOT);
        }
      }
      case AFTER_NAME -> {
        if (isBlank(c) || c == '/' || c == '>') {
          mode = Mode.TAG;
          attribute(c);
        } else {
          unknown();
        }
      }
      case TAG, UNQUOTED, AFTER_EQUALS -> attribute(c);
      case DOUBLE, SINGLE -> {
        attributes.append(c);
        if (c == (mode == Mode.DOUBLE ? '"' : '\'')) {
          mode = Mode.TAG;
        }
      }
      case COMMENT -> {
        if (c == '>' && name.endsWith("--")) {
          mode = Mode.DATA;
          name = "";
        } else {
          name = (name + c).substring(Math.max(0, name.length() - 1));
        }
      }
      case DECLARATION -> {
        name += c;
        if (name.equals("--")) {
          mode = Mode.COMMENT;
          name = "";
        } else if (c == '>') {
          mode = Mode.DATA;
          name = "";
        }
      }
      case RAW -> raw(c);
      case UNKNOWN -> { }
    }
  }

  private void open(char c) {
    if (c == '!' || c == '?') {
      mode = Mode.DECLARATION;
      name = c == '?' ? "?" : "";
    } else if (c == '/' && name.isEmpty()) {
      name = "/";
    } else if (c < 0x80 && Character.isLetter(c)) {
      mode = Mode.TAG_NAME;
      attributes = new StringBuilder();
      name += Character.toLowerCase(c);
    } else {
      // A character and no tag: a < b
      mode = c == '<' ? Mode.TAG_OPEN : Mode.DATA;
      name = "";
    }
  }

  private void attribute(char c) {
    attributes.append(c);
    if (c == '>') {
      end();
    } else if (mode == Mode.TAG) {
      mode = c == '=' ? Mode.AFTER_EQUALS : Mode.TAG;
    } else if (mode == Mode.AFTER_EQUALS) {
      mode = c == '"' ? Mode.DOUBLE : c == '\'' ? Mode.SINGLE : isBlank(c) ? Mode.AFTER_EQUALS : Mode.UNQUOTED;
    } else if (isBlank(c)) {
      mode = Mode.TAG;
    }
  }

  /** Ends a tag after its last character. */
  private void end() {
    String tag = name;
    String staticAttributes = attributes.toString().toLowerCase(Locale.ROOT);
    boolean isClosed = staticAttributes.endsWith("/>") || VOID_ELEMENTS.contains(tag);
    mode = Mode.DATA;
    name = "";
    attributes = null;
    lastTag = tag;
    if (tag.equals("head")) {
      isInHead = true;
    } else if (tag.equals("/head") || tag.equals("body")) {
      isInHead = false;
    }
    if (RAW_ELEMENTS.contains(tag)) {
      mode = Mode.RAW;
      name = tag;
      raw.setLength(0);
    } else if (!kept.isEmpty()) {
      keptDepth += tag.equals(kept) && !isClosed ? 1 : tag.equals("/" + kept) ? -1 : 0;
      if (keptDepth == 0) {
        kept = "";
      }
    } else if (!isClosed && !tag.startsWith("/")
        && (KEPT_ELEMENTS.contains(tag) || staticAttributes.contains("white-space")
        || staticAttributes.contains("xml:space"))) {
      kept = tag;
      keptDepth = 1;
    }
  }

  private void raw(char c) {
    raw.append(Character.toLowerCase(c));
    if ((c == '>' || isBlank(c) || c == '/') && raw.length() > name.length() + 2 && raw.substring(0, raw.length() - 1)
        .endsWith("</"
        + name)) {
      String end = "/" + name;
      raw.setLength(0);
      mode = Mode.TAG;
      name = end;
      attributes = new StringBuilder();
      if (c == '>') {
        end();
      }
    } else if (raw.length() > 256) {
      raw.delete(0, raw.length() - 64);
    }
  }
}
