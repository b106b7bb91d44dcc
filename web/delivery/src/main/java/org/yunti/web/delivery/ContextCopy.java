package org.yunti.web.delivery;

import java.util.HashMap;
import java.util.Map;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.context.AbstractContext;
import org.apache.velocity.context.Context;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.directive.ForeachScope;

/** A context as it is at one moment. */
final class ContextCopy {
  /** A loop's scope that does not go on with its loop. */
  private static final class Standing extends ForeachScope {
    Standing(ForeachScope loop) {
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
    values.replaceAll((key, value) -> value instanceof ForeachScope loop ? new Standing(loop) : value);
    return new VelocityContext(values);
  }

  /** Inner contexts first, so that what hides their values comes behind. */
  private static void add(Map<String, Object> values, Context context) {
    if (context instanceof AbstractContext chained && chained.getChainedContext() != null) {
      add(values, chained.getChainedContext());
    }
    for (String key : context.getKeys()) {
      values.put(key, context.get(key));
    }
  }
}
