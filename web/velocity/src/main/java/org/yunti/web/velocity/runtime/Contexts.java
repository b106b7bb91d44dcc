package org.yunti.web.velocity.runtime;

import org.apache.velocity.VelocityContext;
import org.apache.velocity.context.Context;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.context.InternalContextAdapterImpl;

/** Access to the variables of the template. */
final class Contexts {
  private Contexts() {}

  /**
   * Sets a variable as {@link Context#put}, for a key that is interned: Velocity's own context would intern it again.
   */
  static void put(InternalContextAdapter context, String key, Object value) {
    if (isPlain(context)) {
      ((VelocityContext) context.getInternalUserContext()).internalPut(key, value);
    } else {
      context.put(key, value);
    }
  }

  /** Returns true for Velocity's own contexts: variables go into a map without a visible side effect. */
  static boolean isPlain(InternalContextAdapter context) {
    return context instanceof InternalContextAdapterImpl
        && context.getInternalUserContext() instanceof VelocityContext user
        && user.getClass() == VelocityContext.class;
  }
}
