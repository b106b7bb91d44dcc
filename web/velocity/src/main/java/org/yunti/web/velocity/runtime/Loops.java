package org.yunti.web.velocity.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.runtime.directive.ForeachScope;
import org.apache.velocity.runtime.directive.Scope;
import org.apache.velocity.runtime.directive.StopCommand;
import org.apache.velocity.util.StringUtils;
import org.slf4j.Logger;

/** Runtime of {@code #foreach} for generated code, as {@link org.apache.velocity.runtime.directive.Foreach}. */
final class Loops {
  private Loops() {}

  /** Returns true for an ArrayList under Velocity's own Uberspector, which only calls its iterator(). */
  static boolean isList(Object iterable, LoopSite site) {
    return site.engine.isUberspectStock && iterable != null && iterable.getClass() == ArrayList.class;
  }

  /** Returns the iterator over the elements; null if the value is null or cannot be iterated. */
  static Iterator<?> iterator(Object iterable, LoopSite site) {
    if (iterable == null) {
      return null;
    }
    Iterator<?> iterator;
    try {
      iterator = site.engine.services.getUberspect().getIterator(iterable, site.info);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw failed("Error getting iterator for #foreach parameter " + site.iterable.literal() + " at "
          + StringUtils.formatFileString(site.iterable), e, site);
    }
    if (iterator == null && !site.skipsInvalid) {
      throw failed("#foreach parameter " + site.iterable.literal() + " at "
          + StringUtils.formatFileString(site.iterable) + " is of type "
          + iterable.getClass().getName() + " and cannot be iterated by " + site.engine.services.getUberspect()
          .getClass().getName(), null, site);
    }
    return iterator;
  }

  private static VelocityException failed(String message, Exception cause, LoopSite site) {
    Logger log = site.engine.services.getLog("directive." + site.directive.getName());
    if (cause == null) {
      log.error(message);
    } else {
      log.error(message, cause);
    }
    return new VelocityException(message, cause, site.engine.services.getLogContext().getStackTrace());
  }

  /** Puts {@code $foreach} into the context and returns it; null if it is switched off. */
  static ForeachScope scope(InternalContextAdapter context, LoopSite site) {
    if (!site.hasScope) {
      return null;
    }
    ForeachScope scope = new ForeachScope(site.directive, context.get(site.scopeName));
    Contexts.put(context, site.scopeName, scope);
    return scope;
  }

  /** Does the same in a loop that reuses its scope, unless an object may have kept the scope. */
  static ForeachScope scope(InternalContextAdapter context, LoopSite site, ForeachScope[] spares, int at) {
    ForeachScope spare = spares[at];
    if (spare == null
        || site.engine.hasRendered
        || !Contexts.isPlain(context)
        || !site.engine.insertsPlainly(context)
        || spare.getParent() == null
        || spare.getParent() != context.get(site.scopeName)) {
      spare = scope(context, site);
      spares[at] = spare;
    } else {
      LoopScopes.reset(spare);
      Contexts.put(context, site.scopeName, spare);
    }
    return spare;
  }

  static Object old(InternalContextAdapter context, LoopSite site) {
    return context.get(site.key);
  }

  /** Sets the variable to the next element. */
  static void next(Iterator<?> iterator, ForeachScope scope, InternalContextAdapter context, LoopSite site) {
    Contexts.put(context, site.key, iterator.next());
    if (scope != null) {
      LoopScopes.advance(scope, iterator.hasNext());
    }
  }

  /** Ends this loop at a stop for it; cleans the loop up and rethrows a stop for another. */
  static void stopped(StopCommand stop, InternalContextAdapter context, Object old, LoopSite site) {
    if (!stop.isFor(site.directive)) {
      clean(context, old, site);
      throw stop;
    }
  }

  static void clean(InternalContextAdapter context, Object old, LoopSite site) {
    if (old != null) {
      Contexts.put(context, site.key, old);
    } else {
      context.remove(site.key);
    }
    if (!site.hasScope) {
      return;
    }
    Object current = context.get(site.scopeName);
    // If a template removed the scope, this is Velocity's own NullPointerException.
    if (current == null || current instanceof Scope) {
      Scope scope = (Scope) current;
      if (scope.getParent() != null) {
        Contexts.put(context, site.scopeName, scope.getParent());
      } else if (scope.getReplaced() != null) {
        Contexts.put(context, site.scopeName, scope.getReplaced());
      } else {
        context.remove(site.scopeName);
      }
    }
  }

  static void close(Iterator<?> iterator, Object iterable) throws IOException {
    if (iterator instanceof Closeable closeable && iterator != iterable) {
      closeable.close();
    }
  }
}
