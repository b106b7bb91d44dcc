package org.yunti.web.velocity.runtime;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Map;
import org.apache.velocity.app.event.EventHandlerUtil;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.exception.MethodInvocationException;
import org.apache.velocity.runtime.parser.node.AbstractExecutor;
import org.apache.velocity.runtime.parser.node.BooleanPropertyExecutor;
import org.apache.velocity.runtime.parser.node.GetExecutor;
import org.apache.velocity.runtime.parser.node.MapGetExecutor;
import org.apache.velocity.runtime.parser.node.PropertyExecutor;
import org.apache.velocity.util.introspection.UberspectImpl;
import org.apache.velocity.util.introspection.VelPropertyGet;

/**
 * {@code .name} in references. Generated code calls it by invokedynamic:
 *
 * <pre>(Object receiver, InternalContextAdapter, PropertySite) -> Object</pre>
 *
 * <p>What is called is found by the engine's Uberspector. The first calls, and those whose answer cannot be kept, go through stock's own
 * node.
 */
public final class PropertyLinking {
  private static final MethodHandle GET = Handles.own(MethodHandles.lookup(), "get", Object.class, InlineCache.class, Object.class,
      InternalContextAdapter.class, PropertySite.class);
  private static final MethodHandle GET_OF_MAP = Handles.own(MethodHandles.lookup(), "getOfMap", Object.class, String.class, Object.class);
  private static final MethodHandle THREW = Handles.own(MethodHandles.lookup(), "threw", Object.class, String.class, Throwable.class,
      Object.class, InternalContextAdapter.class, PropertySite.class);
  private static final MethodHandle NOTHING = MethodHandles.dropArguments(MethodHandles.constant(Object.class, null), 0, Object.class);

  private PropertyLinking() {}

  /** The bootstrap method. */
  public static CallSite link(MethodHandles.Lookup caller, String name, MethodType type) {
    InlineCache cache = new InlineCache(type);
    cache.setTarget(GET.bindTo(cache));
    return cache;
  }

  @SuppressWarnings("unused") // by GET
  private static Object get(InlineCache cache, Object receiver, InternalContextAdapter context, PropertySite site) throws Throwable {
    if (++site.calls >= InlineCache.CALLS_BEFORE_LINK
        && site.engine.isUberspectLasting
        && !(receiver instanceof Class)
        && cache.hasRoomFor(receiver.getClass())) {
      MethodHandle found = of(receiver, site);
      if (found != null) {
        cache.add(receiver.getClass(), MethodHandles.dropArguments(found, found.type().parameterCount(),
            cache.type().parameterList().subList(found.type().parameterCount(), 3)));
      } else {
        cache.exclude(receiver.getClass());
      }
    }
    return site.node.execute(receiver, context);
  }

  /** What a property is for a class: of (Object), or of all parameters of the call; null: stock's own code has to be asked each time. */
  private static MethodHandle of(Object receiver, PropertySite site) {
    VelPropertyGet getter = site.engine.services.getUberspect().getPropertyGet(receiver, site.node.getIdentifier(), site.info);
    if (getter == null) {
      return site.isStrict ? null : NOTHING;
    }
    if (!(getter instanceof UberspectImpl.VelGetterImpl known)) {
      return null;
    }
    AbstractExecutor executor = Internals.executor(known);
    if (executor.getClass() == MapGetExecutor.class) {
      return GET_OF_MAP.bindTo(site.node.getIdentifier());
    }
    boolean isGetter = executor.getClass() == PropertyExecutor.class || executor.getClass() == BooleanPropertyExecutor.class;
    if (executor.getClass() != GetExecutor.class && (!isGetter || Internals.wrapsArray((PropertyExecutor) executor))) {
      return null;
    }
    Method method = executor.getMethod();
    MethodHandle handle = Handles.of(method);
    if (handle == null) {
      return null;
    }
    if (!isGetter) {
      handle = MethodHandles.insertArguments(handle, 1, site.node.getIdentifier());
    }
    MethodHandle threw = THREW.bindTo(method.getName());
    MethodHandle all = MethodHandles.dropArguments(Handles.erased(handle), 1, InternalContextAdapter.class, PropertySite.class);
    return MethodHandles.catchException(all, Throwable.class, threw);
  }

  @SuppressWarnings("unused") // by GET_OF_MAP
  private static Object getOfMap(String key, Object map) {
    try {
      return ((Map<?, ?>) map).get(key);
    } catch (IllegalArgumentException e) {
      return null; // as ASTIdentifier has it
    }
  }

  @SuppressWarnings("unused") // by THREW
  private static Object threw(String method, Throwable thrown, Object receiver, InternalContextAdapter context, PropertySite site) {
    if (thrown instanceof Exception e) {
      try {
        return EventHandlerUtil.methodException(site.engine.services, context, receiver.getClass(), method, e, site.info);
      } catch (Exception unhandled) {
        throw failed(method, thrown, receiver, site);
      }
    }
    throw failed(method, thrown, receiver, site);
  }

  private static MethodInvocationException failed(String method, Throwable thrown, Object receiver, PropertySite site) {
    return new MethodInvocationException(
        "Invocation of method '" + method + "' in  " + receiver.getClass() + " threw exception " + thrown.toString(), thrown,
        site.engine.services.getLogContext().getStackTrace(), method, site.node.getTemplateName(), site.node.getLine(),
        site.node.getColumn());
  }
}
