package org.yunti.web.velocity.link;

import java.io.Writer;
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
import org.yunti.web.velocity.runtime.ReferenceSite;
import org.yunti.web.velocity.runtime.References;
import org.yunti.web.velocity.tree.Internals;

/**
 * Linking of {@code .name} in references. Generated code calls it by invokedynamic:
 *
 * <pre>
 *   (Object receiver, InternalContextAdapter) -> Object
 *   (Object receiver, InternalContextAdapter, Writer, ReferenceSite) -> void    the value is written
 *   (Object receiver, InternalContextAdapter, ReferenceSite) -> boolean         the value is tested
 * </pre>
 *
 * <p>The engine's Uberspector finds the getter. The first calls, and calls whose result cannot be cached, go through
 * Velocity's own node.
 */
public final class PropertyLinking {
  private static final MethodHandle GET = Handles.own(MethodHandles.lookup(), "get", Object.class, PropertySite.class,
      InlineCache.class, Object.class, InternalContextAdapter.class);
  private static final MethodHandle GET_OF_MAP = Handles.own(MethodHandles.lookup(), "getOfMap", Object.class,
      String.class, Object.class);
  private static final MethodHandle THREW = Handles.own(MethodHandles.lookup(), "threw", Object.class,
      PropertySite.class, String.class, Throwable.class, Object.class, InternalContextAdapter.class);
  private static final MethodHandle WRITE = Handles.own(MethodHandles.lookup(), "write", void.class, PropertySite.class,
      InlineCache.class, Object.class, InternalContextAdapter.class, Writer.class, ReferenceSite.class);
  private static final MethodHandle WRITING_THREW = Handles.own(MethodHandles.lookup(), "writingThrew", void.class,
      PropertySite.class, String.class, Throwable.class, Object.class, InternalContextAdapter.class, Writer.class,
      ReferenceSite.class);
  private static final MethodHandle TEST = Handles.own(MethodHandles.lookup(), "test", boolean.class,
      PropertySite.class, InlineCache.class, Object.class, InternalContextAdapter.class, ReferenceSite.class);
  private static final MethodHandle IS_TRUE = Handles.own(MethodHandles.lookup(), "isTrue", boolean.class, Object.class,
      Object.class, InternalContextAdapter.class, ReferenceSite.class);
  private static final MethodHandle NAMED_THREW = Handles.own(MethodHandles.lookup(), "namedThrew", Object.class,
      PropertySite.class, String.class, Throwable.class, Object.class, InternalContextAdapter.class,
      ReferenceSite.class);
  private static final MethodHandle TESTING_THREW = Handles.own(MethodHandles.lookup(), "testingThrew", boolean.class,
      PropertySite.class, String.class, Throwable.class, Object.class, InternalContextAdapter.class,
      ReferenceSite.class);
  private static final MethodHandle NOTHING = MethodHandles.dropArguments(MethodHandles.constant(Object.class, null), 0,
      Object.class);

  private PropertyLinking() {}

  /** Property that can be cached: a handle of (Object), and the name of its method if it can throw, else null. */
  private record CachedProperty(MethodHandle handle, String thrower) {}

  /**
   * Bootstrap method of a property whose value is used.
   *
   * @param site index of the {@link PropertySite} in the caller's class data
   */
  public static CallSite link(MethodHandles.Lookup caller, String name, MethodType type, int site)
      throws IllegalAccessException {
    return linked(GET, caller, type, site);
  }

  /** Bootstrap method of a property whose value is written to the page. */
  public static CallSite linkWriting(MethodHandles.Lookup caller, String name, MethodType type, int site)
      throws IllegalAccessException {
    return linked(WRITE, caller, type, site);
  }

  /** Bootstrap method of a property that is a condition. */
  public static CallSite linkTesting(MethodHandles.Lookup caller, String name, MethodType type, int site)
      throws IllegalAccessException {
    return linked(TEST, caller, type, site);
  }

  private static CallSite linked(MethodHandle first, MethodHandles.Lookup caller, MethodType type, int site)
      throws IllegalAccessException {
    InlineCache cache = new InlineCache(type);
    cache.setTarget(MethodHandles.insertArguments(first, 0, Handles.site(caller, site), cache));
    return cache;
  }

  @SuppressWarnings("unused") // called through GET
  private static Object get(PropertySite site, InlineCache cache, Object receiver, InternalContextAdapter context)
      throws Throwable {
    CachedProperty found = lookUp(cache, receiver, site);
    if (found != null) {
      MethodHandle all = MethodHandles.dropArguments(Handles.erased(found.handle), 1, InternalContextAdapter.class);
      MethodHandle threw = MethodHandles.insertArguments(THREW, 0, site, found.thrower);
      cache.add(receiver.getClass(), found.thrower == null ? all
          : MethodHandles.catchException(all, Throwable.class, threw));
    }
    return site.node.execute(receiver, context);
  }

  @SuppressWarnings("unused") // called through WRITE
  private static void write(PropertySite site, InlineCache cache, Object receiver, InternalContextAdapter context,
      Writer out, ReferenceSite reference) throws Throwable {
    CachedProperty found = lookUp(cache, receiver, site);
    if (found != null) {
      MethodHandle threw = MethodHandles.insertArguments(WRITING_THREW, 0, site, found.thrower);
      cache.add(receiver.getClass(), MethodHandles.catchException(WriteHandles.of(found.handle), Throwable.class,
          threw));
    }
    References.write(value(site, receiver, context, reference), context, out, reference);
  }

  @SuppressWarnings("unused") // called through TEST
  private static boolean test(PropertySite site, InlineCache cache, Object receiver, InternalContextAdapter context,
      ReferenceSite reference) throws Throwable {
    CachedProperty found = lookUp(cache, receiver, site);
    if (found != null) {
      cache.add(receiver.getClass(), tested(found, site));
    }
    return References.isTrue(value(site, receiver, context, reference), reference);
  }

  /** Returns a handle of (Object, InternalContextAdapter, ReferenceSite) that tests whether a property is true. */
  private static MethodHandle tested(CachedProperty found, PropertySite site) {
    boolean isBoolean = found.handle.type().returnType() == boolean.class;
    MethodHandle getter = found.handle.asType(MethodType.methodType(isBoolean ? boolean.class : Object.class,
        Object.class));
    MethodHandle all = MethodHandles.dropArguments(getter, 1, InternalContextAdapter.class, ReferenceSite.class);
    if (found.thrower != null) {
      MethodHandle threw = MethodHandles.insertArguments(isBoolean ? TESTING_THREW : NAMED_THREW, 0, site,
          found.thrower);
      all = MethodHandles.catchException(all, Throwable.class, threw);
    }
    return isBoolean ? all : MethodHandles.foldArguments(IS_TRUE, all);
  }

  @SuppressWarnings("unused") // called through IS_TRUE
  private static boolean isTrue(Object value, Object receiver, InternalContextAdapter context,
      ReferenceSite reference) {
    return References.isTrue(value, reference);
  }

  @SuppressWarnings("unused") // called through NAMED_THREW
  private static Object namedThrew(PropertySite site, String method, Throwable thrown, Object receiver,
      InternalContextAdapter context, ReferenceSite reference) {
    try {
      return threw(site, method, thrown, receiver, context);
    } catch (MethodInvocationException e) {
      throw References.named(e, receiver, reference);
    }
  }

  @SuppressWarnings("unused") // called through TESTING_THREW
  private static boolean testingThrew(PropertySite site, String method, Throwable thrown, Object receiver,
      InternalContextAdapter context, ReferenceSite reference) {
    return References.isTrue(namedThrew(site, method, thrown, receiver, context, reference), reference);
  }

  private static Object value(PropertySite site, Object receiver, InternalContextAdapter context,
      ReferenceSite reference) {
    try {
      return site.node.execute(receiver, context);
    } catch (MethodInvocationException e) {
      throw References.named(e, receiver, reference);
    }
  }

  /** Returns the property to cache for a class that is new to a call site; null otherwise. */
  private static CachedProperty lookUp(InlineCache cache, Object receiver, PropertySite site) {
    if (++site.calls < InlineCache.CALLS_BEFORE_LINK
        || !site.engine.isUberspectLasting
        || receiver instanceof Class
        || !cache.hasRoomFor(receiver.getClass())) {
      return null;
    }
    CachedProperty found = of(receiver, site);
    if (found == null) {
      cache.exclude(receiver.getClass());
    }
    return found;
  }

  /** Returns the property for the receiver's class; null if Velocity's own code must run each time. */
  private static CachedProperty of(Object receiver, PropertySite site) {
    VelPropertyGet getter = site.engine.services.getUberspect().getPropertyGet(receiver, site.node.getIdentifier(),
        site.info);
    if (getter == null) {
      return site.engine.isStrict ? null : new CachedProperty(NOTHING, null);
    }
    if (!(getter instanceof UberspectImpl.VelGetterImpl known)) {
      return null;
    }
    AbstractExecutor executor = Internals.GETTER_EXECUTOR.of(known);
    if (executor.getClass() == MapGetExecutor.class) {
      return new CachedProperty(GET_OF_MAP.bindTo(site.node.getIdentifier()), null);
    }
    boolean isGetter = executor.getClass() == PropertyExecutor.class
        || executor.getClass() == BooleanPropertyExecutor.class;
    if (executor.getClass() != GetExecutor.class
        && (!isGetter || Internals.WRAPS_ARRAY.of((PropertyExecutor) executor))) {
      return null;
    }
    Method method = executor.getMethod();
    MethodHandle handle = Handles.of(method);
    if (handle == null) {
      return null;
    }
    return new CachedProperty(isGetter ? handle : MethodHandles.insertArguments(handle, 1, site.node.getIdentifier()),
        method.getName());
  }

  @SuppressWarnings("unused") // called through GET_OF_MAP
  private static Object getOfMap(String key, Object map) {
    try {
      return ((Map<?, ?>) map).get(key);
    } catch (IllegalArgumentException e) {
      return null; // as in ASTIdentifier
    }
  }

  @SuppressWarnings("unused") // called through THREW
  private static Object threw(PropertySite site, String method, Throwable thrown, Object receiver,
      InternalContextAdapter context) {
    if (thrown instanceof Exception e) {
      try {
        return EventHandlerUtil.methodException(site.engine.services, context, receiver.getClass(), method, e,
            site.info);
      } catch (Exception unhandled) {
        throw failed(method, thrown, receiver, site);
      }
    }
    throw failed(method, thrown, receiver, site);
  }

  @SuppressWarnings("unused") // called through WRITING_THREW
  private static void writingThrew(PropertySite site, String method, Throwable thrown, Object receiver,
      InternalContextAdapter context, Writer out, ReferenceSite reference) throws Throwable {
    WriteHandles.rethrow(thrown);
    if (method == null) {
      throw thrown;
    }
    References.write(namedThrew(site, method, thrown, receiver, context, reference), context, out, reference);
  }

  private static MethodInvocationException failed(String method, Throwable thrown, Object receiver, PropertySite site) {
    return new MethodInvocationException(
        "Invocation of method '" + method + "' in  " + receiver.getClass() + " threw exception " + thrown.toString(),
        thrown, site.engine.services.getLogContext().getStackTrace(), method, site.node.getTemplateName(),
        site.node.getLine(), site.node.getColumn());
  }
}
