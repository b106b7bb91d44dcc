package org.yunti.web.delivery;

import java.util.HashMap;
import java.util.Map;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.context.AbstractContext;
import org.apache.velocity.context.Context;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.directive.ForeachScope;

/** Copy of a context at one moment. */
final class ContextCopy {
  /** Scope of a loop, fixed at the current element. */
  private static final class FixedScope extends ForeachScope {
    FixedScope(ForeachScope loop) {
      super(new Object(), loop.getParent());
      index = loop.getIndex();
      hasNext = loop.getHasNext();
    }
  }

  private ContextCopy() {}

  static Context of(InternalContextAdapter context) {
    Map<String, Object> values = new HashMap<>();
    add(values, context.getInternalUserContext());
    add(values, context);
    values.remove(AsyncPage.KEY);
    values.replaceAll((key, value) -> value instanceof ForeachScope loop ? new FixedScope(loop) : value);
    return new VelocityContext(values);
  }

  /** Adds the values of inner contexts first, so that outer values replace them. */
  private static void add(Map<String, Object> values, Context context) {
    if (context instanceof AbstractContext chained && chained.getChainedContext() != null) {
      add(values, chained.getChainedContext());
    }
    for (String key : context.getKeys()) {
      values.put(key, context.get(key));
    }
  }
}
