package org.yunti.web.shrink.html;

import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.velocity.runtime.parser.node.Node;

/**
 * Places where the parts of a folder of templates are used: macros, parsed files, defined blocks. A macro called inside
 * of pre must keep its blanks, wherever it is defined. Templates are walked until no new place is found.
 */
public final class Places {
  private final Map<String, HtmlState> entries = new HashMap<>();
  private final Set<String> opening = new HashSet<>();
  private final Map<Node, HtmlState> loopEnds = new IdentityHashMap<>();
  private boolean hasChanged;

  /** Returns the part of a macro. */
  public static String macro(String name) {
    return "macro " + name;
  }

  /** Returns the part of a template. */
  public static String file(String name) {
    return "file " + name;
  }

  /** Returns the part of a reference. */
  public static String reference(String name) {
    return "reference " + name;
  }

  /** Records a use of a part. */
  public void use(String part, HtmlState state) {
    HtmlState place = plain(state);
    HtmlState known = entries.get(part);
    HtmlState joined = known == null ? place : known.join(place);
    if (known == null || !known.sameAs(joined)) {
      entries.put(part, joined);
      hasChanged = true;
    }
  }

  /** Records a {@code #parse} with a computed name, which may use any file. */
  void useAnyFile(HtmlState state) {
    use(file("*"), state);
  }

  /** Returns the state at the beginning of a part; an unused part begins like a page. */
  public HtmlState entry(String part) {
    HtmlState known = entries.get(part);
    HtmlState any = part.startsWith("file ") ? entries.get(file("*")) : null;
    HtmlState entry = known == null ? new HtmlState() : known.copy();
    return any == null || known == null && any.mode() == HtmlState.Mode.DATA ? entry : entry.join(any);
  }

  /** Returns true if a use of the part is recorded. */
  public boolean isUsed(String part) {
    return entries.containsKey(part);
  }

  /** Records a part whose end state differs from its beginning. */
  public void opens(String part) {
    hasChanged |= opening.add(part);
  }

  /** Returns true if the end state of the part differs from its beginning. */
  public boolean isOpening(String part) {
    return opening.contains(part);
  }

  /** Returns the state at the end of a loop's body in the last walk; null before the first. */
  public HtmlState loopEnd(Node loop) {
    return loopEnds.get(loop);
  }

  /** Records the state at the end of a loop's body. */
  public void loopEnd(Node loop, HtmlState end) {
    HtmlState known = loopEnds.put(loop, end.copy());
    hasChanged |= known == null || !known.sameAs(end) || known.endsBlank != end.endsBlank
        || !Objects.equals(known.lastTag, end.lastTag);
  }

  /** Returns true if something changed since the last call. */
  public boolean change() {
    boolean has = hasChanged;
    hasChanged = false;
    return has;
  }

  /** Returns a copy for another tree of one of the templates. */
  public Places forTemplate() {
    Places copy = new Places();
    copy.entries.putAll(entries);
    copy.opening.addAll(opening);
    return copy;
  }

  private static HtmlState plain(HtmlState state) {
    return state.squeezes() ? new HtmlState(state.mode()) : new HtmlState(HtmlState.Mode.UNKNOWN);
  }
}
