package org.yunti.web.velocity.runtime;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import org.apache.velocity.app.event.EventHandlerUtil;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.exception.MethodInvocationException;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.util.ClassUtils;
import org.apache.velocity.util.introspection.UberspectImpl;
import org.apache.velocity.util.introspection.VelMethod;

/**
 * {@code .name(..)} in references, the arguments computed: {@link org.apache.velocity.runtime.parser.node.ASTMethod}. Generated code calls
 * it by invokedynamic:
 *
 * <pre>(Object receiver, Object argument .., InternalContextAdapter, MethodSite) -> Object</pre>
 */
public final class MethodLinking {
  private static final MethodHandle CALL = Handles.own(MethodHandles.lookup(), "call", Object.class, InlineCache.class, Object[].class,
      InternalContextAdapter.class, MethodSite.class);
  private static final MethodHandle THREW = Handles.own(MethodHandles.lookup(), "threw", Object.class, Throwable.class, Object[].class,
      InternalContextAdapter.class, MethodSite.class);
  private static final MethodHandle NOT_NULL = Handles.own(MethodHandles.lookup(), "emptyForVoid", Object.class, Object.class);
  private static final Class<?>[] NONE = new Class<?>[0];

  private MethodLinking() {}

  /** The bootstrap method. */
  public static CallSite link(MethodHandles.Lookup caller, String name, MethodType type) {
    InlineCache cache = new InlineCache(type);
    MethodHandle collected = CALL.bindTo(cache).asCollector(0, Object[].class, type.parameterCount() - 2);
    cache.setTarget(collected.asType(type));
    return cache;
  }

  /** {@code values}: the receiver and the arguments. */
  @SuppressWarnings("unused") // by CALL
  private static Object call(InlineCache cache, Object[] values, InternalContextAdapter context, MethodSite site) throws Throwable {
    Object receiver = values[0];
    int n = values.length - 1;
    Object[] arguments = new Object[n];
    Class<?>[] classes = n == 0 ? NONE : new Class<?>[n];
    boolean hasNull = false;
    for (int i = 0; i < n; i++) {
      arguments[i] = values[i + 1];
      classes[i] = arguments[i] == null ? null : arguments[i].getClass();
      hasNull |= arguments[i] == null;
    }
    VelMethod method = ClassUtils.getMethod(site.name, arguments, classes, receiver, context, site.node, site.isStrict);
    if (method == null) {
      if (site.logsInvalid) {
        tellMissing(receiver, classes, site);
      }
      return null;
    }
    if (++site.calls >= InlineCache.CALLS_BEFORE_LINK
        && site.engine.isUberspectLasting
        && !hasNull
        && !(receiver instanceof Class)) {
      addTo(cache, values, method);
    }
    return invoke(method, receiver, arguments, context, site);
  }

  /** Remembers a method for the classes of these values. */
  private static void addTo(InlineCache cache, Object[] values, VelMethod method) {
    Class<?>[] classes = new Class<?>[values.length];
    for (int i = 0; i < values.length; i++) {
      classes[i] = values[i].getClass();
    }
    if (!cache.hasRoomFor(classes)) {
      return;
    }
    MethodHandle handle = method.getClass() == UberspectImpl.VelMethodImpl.class && Internals.isPlain((UberspectImpl.VelMethodImpl) method)
        ? Handles.of(method.getMethod())
        : null;
    if (handle == null || handle.type().parameterCount() != values.length) {
      cache.exclude(classes);
      return;
    }
    boolean isVoid = handle.type().returnType() == void.class;
    MethodHandle erased = Handles.erased(handle);
    if (isVoid) {
      erased = MethodHandles.filterReturnValue(erased, NOT_NULL);
    }
    MethodHandle all = MethodHandles.dropArguments(erased, values.length, InternalContextAdapter.class, MethodSite.class);
    MethodHandle threw = THREW.asCollector(1, Object[].class, values.length);
    cache.add(classes, MethodHandles.catchException(all, Throwable.class, threw));
  }

  @SuppressWarnings("unused") // by NOT_NULL
  private static Object emptyForVoid(Object nothing) {
    return "";
  }

  private static Object invoke(VelMethod method, Object receiver, Object[] arguments, InternalContextAdapter context, MethodSite site) {
    try {
      Object result = method.invoke(receiver, arguments);
      return result == null && method.getReturnType() == void.class ? "" : result;
    } catch (InvocationTargetException e) {
      return failed(e.getTargetException(), receiver, context, site);
    } catch (IllegalArgumentException e) {
      return failed(e, receiver, context, site);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      String message = "ASTMethod.execute() : exception invoking method '" + site.name + "' in " + receiver.getClass();
      site.engine.log.error(message, e);
      throw new VelocityException(message, e, site.engine.services.getLogContext().getStackTrace());
    }
  }

  @SuppressWarnings("unused") // by THREW
  private static Object threw(Throwable thrown, Object[] values, InternalContextAdapter context, MethodSite site) {
    return failed(thrown, values[0], context, site);
  }

  private static Object failed(Throwable thrown, Object receiver, InternalContextAdapter context, MethodSite site) {
    if (thrown instanceof Error e) {
      throw e;
    }
    Throwable cause = thrown;
    if (thrown instanceof Exception exception) {
      try {
        return EventHandlerUtil.methodException(site.engine.services, context, receiver.getClass(), site.name, exception, site.info);
      } catch (Exception e) {
        cause = e;
      }
    }
    throw new MethodInvocationException(
        "Invocation of method '" + site.name + "' in  " + receiver.getClass() + " threw exception " + cause.toString(), cause,
        site.engine.services.getLogContext().getStackTrace(), site.name, site.node.getTemplateName(), site.node.getLine(),
        site.node.getColumn());
  }

  private static void tellMissing(Object receiver, Class<?>[] classes, MethodSite site) {
    StringBuilder list = new StringBuilder();
    for (int i = 0; i < classes.length; i++) {
      list.append(i > 0 ? ", " : "").append(classes[i] == null ? "null" : classes[i].getName());
    }
    site.engine.log.debug("Object '{}' does not contain method {}({}) (or several ambiguous methods) at {}[line {}, column {}]",
        receiver.getClass().getName(), site.name, list, site.node.getTemplateName(), site.node.getLine(), site.node.getColumn());
  }
}
