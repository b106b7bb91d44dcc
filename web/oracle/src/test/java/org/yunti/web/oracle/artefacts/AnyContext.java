package org.yunti.web.oracle.artefacts;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.velocity.context.AbstractContext;
import org.yunti.web.oracle.Journal;

/** Context that has every name except Velocity's own. */
final class AnyContext extends AbstractContext {
  private static final Set<String> VELOCITYS = Set.of("foreach", "template", "macro", "define", "evaluate",
      "bodyContent", "velocityCount");

  private final Map<String, Object> written = new HashMap<>();
  private final Anything root;

  AnyContext(Anything.Kind kind) {
    root = new Anything("root", 0, kind);
  }

  @Override
  public Object internalGet(String key) {
    if (written.containsKey(key)) {
      return written.get(key);
    }
    return key.startsWith(".") || VELOCITYS.contains(key) ? null : root.child(key);
  }

  @Override
  public Object internalPut(String key, Object value) {
    Journal.note("put " + key);
    return written.put(key, value);
  }

  @Override
  public boolean internalContainsKey(String key) {
    return internalGet(key) != null || written.containsKey(key);
  }

  @Override
  public String[] internalGetKeys() {
    return written.keySet().toArray(new String[0]);
  }

  @Override
  public Object internalRemove(String key) {
    Journal.note("remove " + key);
    return written.remove(key);
  }
}
