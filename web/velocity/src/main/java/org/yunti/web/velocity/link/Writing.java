package org.yunti.web.velocity.link;

import java.io.IOException;
import java.io.Writer;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import org.apache.velocity.context.InternalContextAdapter;
import org.yunti.web.velocity.output.ByteWriter;
import org.yunti.web.velocity.runtime.ReferenceSite;
import org.yunti.web.velocity.runtime.References;

/**
 * The end of a reference that is rendered: what its last getter or method returns is written, numbers as they are, without an object between.
 *
 * <pre>
 *   (Object receiver ..) -> int  +  (int, InternalContextAdapter, Writer, ReferenceSite) -> void
 * </pre>
 */
final class Writing {
  private static final MethodHandle OBJECT = writer("object", Object.class);
  private static final MethodHandle INT = writer("number", int.class);
  private static final MethodHandle LONG = writer("number", long.class);
  private static final MethodHandle DOUBLE = writer("number", double.class);

  /** What writing has thrown, so that it is not taken for what the getter has thrown. */
  private static final class Failed extends RuntimeException {
    Failed(Throwable cause) {
      super(null, cause, false, false);
    }
  }

  private Writing() {}

  private static MethodHandle writer(String name, Class<?> type) {
    return Handles.own(MethodHandles.lookup(), name, void.class, type, InternalContextAdapter.class, Writer.class, ReferenceSite.class);
  }

  /** A handle's result is written: its parameters, as objects, then (InternalContextAdapter, Writer, ReferenceSite). */
  static MethodHandle of(MethodHandle handle) {
    Class<?> result = handle.type().returnType();
    MethodHandle writer = result == int.class ? INT : result == long.class ? LONG : result == double.class ? DOUBLE : OBJECT;
    Class<?> written = writer.type().parameterType(0);
    return MethodHandles.collectArguments(writer, 0, handle.asType(handle.type().generic().changeReturnType(written)));
  }

  /** What a handler of the whole is given: goes on where it was not writing that has thrown it. */
  static void rethrow(Throwable thrown) throws Throwable {
    if (thrown instanceof Failed) {
      throw thrown.getCause();
    }
  }

  private static void object(Object value, InternalContextAdapter context, Writer out, ReferenceSite site) {
    try {
      References.write(value, context, out, site);
    } catch (Throwable e) {
      throw new Failed(e);
    }
  }

  private static void number(int value, InternalContextAdapter context, Writer out, ReferenceSite site) {
    try {
      ByteWriter bytes = begin(context, out, site);
      if (bytes != null) {
        bytes.writeNumber((long) value);
      } else {
        References.write(value, context, out, site);
      }
    } catch (Throwable e) {
      throw new Failed(e);
    }
  }

  private static void number(long value, InternalContextAdapter context, Writer out, ReferenceSite site) {
    try {
      ByteWriter bytes = begin(context, out, site);
      if (bytes != null) {
        bytes.writeNumber(value);
      } else {
        References.write(value, context, out, site);
      }
    } catch (Throwable e) {
      throw new Failed(e);
    }
  }

  private static void number(double value, InternalContextAdapter context, Writer out, ReferenceSite site) {
    try {
      ByteWriter bytes = begin(context, out, site);
      if (bytes != null) {
        bytes.writeNumber(value);
      } else {
        References.write(value, context, out, site);
      }
    } catch (Throwable e) {
      throw new Failed(e);
    }
  }

  /** Where a number can go as it is, behind what stands before it; null: it has to be an object. */
  private static ByteWriter begin(InternalContextAdapter context, Writer out, ReferenceSite site) throws IOException {
    if (out instanceof ByteWriter bytes && site.engine.insertsPlainly(context)) {
      References.writePrefix(out, site);
      return bytes;
    }
    return null;
  }
}
