package org.yunti.web.velocity.link;

import java.io.IOException;
import java.io.Writer;
import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.velocity.app.event.EventHandlerUtil;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.exception.MethodInvocationException;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.util.ClassUtils;
import org.apache.velocity.util.introspection.UberspectImpl;
import org.apache.velocity.util.introspection.VelMethod;
import org.yunti.web.velocity.runtime.ReferenceSite;
import org.yunti.web.velocity.runtime.References;
import org.yunti.web.velocity.tree.Internals;

/**
 * Linking of {@code .name(..)} in references, with computed arguments, as {@link
 * org.apache.velocity.runtime.parser.node.ASTMethod}. Generated code calls it by invokedynamic:
 *
 * <pre>
 *   (Object receiver, Object argument .., InternalContextAdapter) -> Object
 *   (Object receiver, Object argument .., InternalContextAdapter, Writer, ReferenceSite) -> void (writes the value)
 * </pre>
 */
public final class MethodLinking {
  private static final MethodHandle CALL = Handles.own(MethodHandles.lookup(), "call", Object.class, MethodSite.class,
      InlineCache.class, Object[].class, InternalContextAdapter.class);
  private static final MethodHandle THREW = Handles.own(MethodHandles.lookup(), "threw", Object.class, MethodSite.class,
      Throwable.class, Object[].class, InternalContextAdapter.class);
  private static final MethodHandle NOT_NULL = Handles.own(MethodHandles.lookup(), "emptyForVoid", Object.class,
      Object.class);
  private static final MethodHandle WRITE = Handles.own(MethodHandles.lookup(), "write", void.class, MethodSite.class,
      InlineCache.class, Object[].class, InternalContextAdapter.class, Writer.class, ReferenceSite.class);
  private static final MethodHandle WRITING_THREW = Handles.own(MethodHandles.lookup(), "writingThrew", void.class,
      MethodSite.class, Throwable.class, Object[].class, InternalContextAdapter.class, Writer.class,
      ReferenceSite.class);

  private MethodLinking() {}

  /**
   * Bootstrap method of a call whose value is used.
   *
   * @param site index of the {@link MethodSite} in the caller's class data
   */
  public static CallSite link(MethodHandles.Lookup caller, String name, MethodType type, int site)
      throws IllegalAccessException {
    return linked(CALL, caller, type, site);
  }

  /** Bootstrap method of a call whose value is written to the page. */
  public static CallSite linkWriting(MethodHandles.Lookup caller, String name, MethodType type, int site)
      throws IllegalAccessException {
    return linked(WRITE, caller, type, site);
  }

  /** Links a call: the receiver and the arguments come as one array, the later parameters unchanged. */
  private static CallSite linked(MethodHandle first, MethodHandles.Lookup caller, MethodType type, int site)
      throws IllegalAccessException {
    InlineCache cache = new InlineCache(type);
    MethodHandle own = MethodHandles.insertArguments(first, 0, Handles.site(caller, site), cache);
    int values = type.parameterCount() - (own.type().parameterCount() - 1);
    cache.setTarget(own.asCollector(0, Object[].class, values).asType(type));
    return cache;
  }

  /** Calls a method; {@code values}: the receiver and the arguments. */
  @SuppressWarnings("unused") // called through CALL
  private static Object call(MethodSite site, InlineCache cache, Object[] values, InternalContextAdapter context) {
    VelMethod method = lookUp(values, context, site);
    if (method == null) {
      return null;
    }
    MethodHandle handle = newHandle(cache, values, method, site);
    if (handle != null) {
      MethodHandle all = MethodHandles.dropArguments(Handles.erased(handle), values.length,
          InternalContextAdapter.class);
      MethodHandle threw = THREW.bindTo(site).asCollector(1, Object[].class, values.length);
      cache.add(classesOf(values), MethodHandles.catchException(all, Throwable.class, threw));
    }
    return invoke(method, values, context, site);
  }

  @SuppressWarnings("unused") // called through WRITE
  private static void write(MethodSite site, InlineCache cache, Object[] values, InternalContextAdapter context,
      Writer out, ReferenceSite reference) throws IOException {
    Object value;
    try {
      VelMethod method = lookUp(values, context, site);
      MethodHandle handle = method == null ? null : newHandle(cache, values, method, site);
      if (handle != null) {
        MethodHandle threw = WRITING_THREW.bindTo(site).asCollector(1, Object[].class, values.length);
        cache.add(classesOf(values), MethodHandles.catchException(WriteHandles.of(handle), Throwable.class, threw));
      }
      value = method == null ? null : invoke(method, values, context, site);
    } catch (MethodInvocationException e) {
      throw References.named(e, values[0], reference);
    }
    References.write(value, context, out, reference);
  }

  /** Returns the method for the classes of these values; null if there is none, which is logged. */
  private static VelMethod lookUp(Object[] values, InternalContextAdapter context, MethodSite site) {
    Object[] arguments = argumentsOf(values);
    Class<?>[] classes = classesOf(arguments);
    VelMethod method = ClassUtils.getMethod(site.name, arguments, classes, values[0], context, site.node,
        site.engine.isStrict);
    if (method == null && site.engine.logsInvalidMethods) {
      logMissing(values[0], classes, site);
    }
    return method;
  }

  /**
   * Returns the handle of a method if the call site should cache it for the classes of these values; null otherwise.
   */
  private static MethodHandle newHandle(InlineCache cache, Object[] values, VelMethod method, MethodSite site) {
    if (++site.calls < InlineCache.CALLS_BEFORE_LINK || !site.engine.isUberspectLasting || values[0] instanceof Class) {
      return null;
    }
    for (Object value : values) {
      if (value == null) {
        return null;
      }
    }
    Class<?>[] classes = classesOf(values);
    if (!cache.hasRoomFor(classes)) {
      return null;
    }
    MethodHandle handle = method.getClass() == UberspectImpl.VelMethodImpl.class
        && Internals.isPlain((UberspectImpl.VelMethodImpl) method)
        ? Handles.of(method.getMethod())
        : null;
    if (handle == null || handle.type().parameterCount() != values.length) {
      cache.exclude(classes);
      return null;
    }
    return handle.type().returnType() == void.class ? MethodHandles.filterReturnValue(Handles.erased(handle), NOT_NULL)
        : handle;
  }

  private static Object[] argumentsOf(Object[] values) {
    return Arrays.copyOfRange(values, 1, values.length);
  }

  private static Class<?>[] classesOf(Object[] values) {
    Class<?>[] classes = new Class<?>[values.length];
    for (int i = 0; i < values.length; i++) {
      classes[i] = values[i] == null ? null : values[i].getClass();
    }
    return classes;
  }

  @SuppressWarnings("unused") // called through NOT_NULL
  private static Object emptyForVoid(Object nothing) {
    return "";
  }

  private static Object invoke(VelMethod method, Object[] values, InternalContextAdapter context, MethodSite site) {
    Object receiver = values[0];
    try {
      Object result = method.invoke(receiver, argumentsOf(values));
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

  @SuppressWarnings("unused") // called through THREW
  private static Object threw(MethodSite site, Throwable thrown, Object[] values, InternalContextAdapter context) {
    return failed(thrown, values[0], context, site);
  }

  @SuppressWarnings("unused") // called through WRITING_THREW
  private static void writingThrew(MethodSite site, Throwable thrown, Object[] values, InternalContextAdapter context,
      Writer out, ReferenceSite reference) throws Throwable {
    WriteHandles.rethrow(thrown);
    Object value;
    try {
      value = failed(thrown, values[0], context, site);
    } catch (MethodInvocationException e) {
      throw References.named(e, values[0], reference);
    }
    References.write(value, context, out, reference);
  }

  private static Object failed(Throwable thrown, Object receiver, InternalContextAdapter context, MethodSite site) {
    if (thrown instanceof Error e) {
      throw e;
    }
    Throwable cause = thrown;
    if (thrown instanceof Exception exception) {
      try {
        return EventHandlerUtil.methodException(site.engine.services, context, receiver.getClass(), site.name,
            exception, site.info);
      } catch (Exception e) {
        cause = e;
      }
    }
    throw new MethodInvocationException(
        "Invocation of method '" + site.name + "' in  " + receiver.getClass() + " threw exception " + cause.toString(),
        cause, site.engine.services.getLogContext().getStackTrace(), site.name, site.node.getTemplateName(),
        site.node.getLine(), site.node.getColumn());
  }

  private static void logMissing(Object receiver, Class<?>[] classes, MethodSite site) {
    StringBuilder list = new StringBuilder();
    for (int i = 0; i < classes.length; i++) {
      list.append(i > 0 ? ", " : "").append(classes[i] == null ? "null" : classes[i].getName());
    }
    site.engine.log.debug(
        "Object '{}' does not contain method {}({}) (or several ambiguous methods) at {}[line {}, column {}]",
        receiver.getClass().getName(), site.name, list, site.node.getTemplateName(), site.node.getLine(),
        site.node.getColumn());
  }
}
