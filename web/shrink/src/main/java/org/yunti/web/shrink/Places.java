package org.yunti.web.shrink;

import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.velocity.runtime.parser.node.Node;

/**
 * Where the parts of a folder of templates are used: macros, files that are parsed, blocks that are defined. A macro that is called inside
 * of pre must keep its blanks, wherever it stands. Templates are walked until nothing is added here.
 */
final class Places {
  private final Map<String, HtmlState> entries = new HashMap<>();
  private final Set<String> opening = new HashSet<>();
  private final Map<Node, HtmlState> loopEnds = new IdentityHashMap<>();
  private boolean hasChanged;

  static String macro(String name) {
    return "macro " + name;
  }

  static String file(String name) {
    return "file " + name;
  }

  static String reference(String name) {
    return "reference " + name;
  }

  /** A part is used here. */
  void use(String part, HtmlState state) {
    HtmlState place = plain(state);
    HtmlState known = entries.get(part);
    HtmlState joined = known == null ? place : known.join(place);
    if (known == null || !known.sameAs(joined)) {
      entries.put(part, joined);
      hasChanged = true;
    }
  }

  /** All that is not known in the folder may be used here: a file whose name is computed. */
  void useAnyFile(HtmlState state) {
    use(file("*"), state);
  }

  /** Where a part begins; one that nobody uses begins as a page does. */
  HtmlState entry(String part) {
    HtmlState known = entries.get(part);
    HtmlState any = part.startsWith("file ") ? entries.get(file("*")) : null;
    HtmlState entry = known == null ? new HtmlState() : known.copy();
    return any == null || known == null && any.mode() == HtmlState.Mode.DATA ? entry : entry.join(any);
  }

  boolean isUsed(String part) {
    return entries.containsKey(part);
  }

  /** A part that ends elsewhere than it begins. */
  void opens(String part) {
    hasChanged |= opening.add(part);
  }

  boolean isOpening(String part) {
    return opening.contains(part);
  }

  /** Where the body of a loop has ended when it was walked last; null: it was not yet. */
  HtmlState loopEnd(Node loop) {
    return loopEnds.get(loop);
  }

  void loopEnd(Node loop, HtmlState end) {
    HtmlState known = loopEnds.put(loop, end.copy());
    hasChanged |= known == null || !known.sameAs(end) || known.endsBlank != end.endsBlank || !Objects.equals(known.lastTag, end.lastTag);
  }

  /** Whether something was added since this was asked last. */
  boolean change() {
    boolean has = hasChanged;
    hasChanged = false;
    return has;
  }

  /** The same knowledge, for another tree of one of the templates. */
  Places forTemplate() {
    Places copy = new Places();
    copy.entries.putAll(entries);
    copy.opening.addAll(opening);
    return copy;
  }

  private static HtmlState plain(HtmlState state) {
    return state.squeezes() ? new HtmlState(state.mode()) : new HtmlState(HtmlState.Mode.UNKNOWN);
  }
}
