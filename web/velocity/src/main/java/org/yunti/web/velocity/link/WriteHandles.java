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
 * Method handles that write the result of a reference's last getter or method to the page. Numbers are written
 * directly, without an object:
 *
 * <pre>
 *   (Object receiver ..) -> int  +  (int, InternalContextAdapter, Writer, ReferenceSite) -> void
 * </pre>
 */
final class WriteHandles {
  private static final MethodHandle OBJECT = writer("object", Object.class);
  private static final MethodHandle INT = writer("number", int.class);
  private static final MethodHandle LONG = writer("number", long.class);
  private static final MethodHandle DOUBLE = writer("number", double.class);

  /** Exception of the writer, so that it is not taken for an exception of the getter. */
  private static final class WriteFailure extends RuntimeException {
    WriteFailure(Throwable cause) {
      super(null, cause, false, false);
    }
  }

  private WriteHandles() {}

  private static MethodHandle writer(String name, Class<?> type) {
    return Handles.own(MethodHandles.lookup(), name, void.class, type, InternalContextAdapter.class, Writer.class,
        ReferenceSite.class);
  }

  /**
   * Returns a handle that writes the result of {@code handle}. Its parameters: those of the handle, as objects, then
   * (InternalContextAdapter, Writer, ReferenceSite).
   */
  static MethodHandle of(MethodHandle handle) {
    Class<?> result = handle.type().returnType();
    MethodHandle writer = result == int.class ? INT : result == long.class ? LONG : result == double.class ? DOUBLE
        : OBJECT;
    Class<?> written = writer.type().parameterType(0);
    return MethodHandles.collectArguments(writer, 0, handle.asType(handle.type().generic().changeReturnType(written)));
  }

  /** Rethrows an exception of the writer; returns if the getter or method threw it. */
  static void rethrow(Throwable thrown) throws Throwable {
    if (thrown instanceof WriteFailure) {
      throw thrown.getCause();
    }
  }

  private static void object(Object value, InternalContextAdapter context, Writer out, ReferenceSite site) {
    try {
      References.write(value, context, out, site);
    } catch (Throwable e) {
      throw new WriteFailure(e);
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
      throw new WriteFailure(e);
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
      throw new WriteFailure(e);
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
      throw new WriteFailure(e);
    }
  }

  /** Writes the prefix and returns the writer for a number; null if the number must become an object. */
  private static ByteWriter begin(InternalContextAdapter context, Writer out, ReferenceSite site) throws IOException {
    if (out instanceof ByteWriter bytes && site.engine.insertsPlainly(context)) {
      References.writePrefix(out, site);
      return bytes;
    }
    return null;
  }
}
