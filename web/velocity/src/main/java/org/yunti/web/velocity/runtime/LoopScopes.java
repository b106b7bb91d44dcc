package org.yunti.web.velocity.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.apache.velocity.runtime.directive.ForeachScope;

/** Updates of {@code $foreach}. Its fields change for each element, so it uses handles that the JIT optimises. */
final class LoopScopes {
  private static final VarHandle INDEX;
  private static final VarHandle HAS_NEXT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(ForeachScope.class, MethodHandles.lookup());
      INDEX = lookup.findVarHandle(ForeachScope.class, "index", int.class);
      HAS_NEXT = lookup.findVarHandle(ForeachScope.class, "hasNext", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private LoopScopes() {}

  /** Resets a scope to the state of a new one. */
  static void reset(ForeachScope scope) {
    INDEX.set(scope, -1);
    HAS_NEXT.set(scope, false);
  }

  static void advance(ForeachScope scope, boolean hasNext) {
    INDEX.set(scope, (int) INDEX.get(scope) + 1);
    HAS_NEXT.set(scope, hasNext);
  }
}
