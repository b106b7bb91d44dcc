package org.yunti.web.velocity.runtime;

import java.io.IOException;
import java.io.Writer;
import java.util.Deque;
import org.apache.velocity.app.event.EventHandlerUtil;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.exception.MethodInvocationException;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.io.Filter;
import org.apache.velocity.runtime.Renderable;
import org.apache.velocity.runtime.directive.Block;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.util.StringUtils;
import org.yunti.web.velocity.output.ByteWriter;
import org.yunti.web.velocity.output.StaticText;

/**
 * Runtime of references for generated code, as {@link ASTReference}, without the parts for handlers of invalid
 * references.
 */
public final class References {
  private References() {}

  static void text(StaticText text, Writer out) throws IOException {
    if (out instanceof ByteWriter bytes) {
      bytes.write(text);
    } else {
      out.write(text.string());
    }
  }

  /** Returns the variable at the beginning of a reference. */
  static Object root(InternalContextAdapter context, ReferenceSite site) {
    try {
      Object value = context.get(site.root);
      if (value == null && site.checksWhetherSet) {
        // Only handlers of invalid references need the result, and there are none; but a custom context may observe the
        // call.
        context.containsKey(site.root);
      }
      return value;
    } catch (RuntimeException e) {
      site.engine.log.error("Exception calling reference ${} at {}", site.root,
          StringUtils.formatFileString(site.node));
      throw e;
    }
  }

  /** Returns the same variable in strict mode, which requires that it was set. */
  static Object strictRoot(InternalContextAdapter context, ReferenceSite site) {
    return site.node.getRootVariableValue(context);
  }

  /** Returns the value of a strict reference; for null, Velocity looks the variable up, as above. */
  static Object strictResult(Object value, InternalContextAdapter context, ReferenceSite site) {
    if (value == null) {
      context.containsKey(site.root);
    }
    return value;
  }

  /** Returns the exception of a strict reference that continues after null. */
  static VelocityException nullInChain(ReferenceSite site, Node child) {
    return new VelocityException("Attempted to access '" + child.getFirstTokenImage() + "' on a null value at "
        + StringUtils.formatFileString(site.node.getTemplateName(), child.getLine(), child.getColumn()), null,
        trace(site));
  }

  /** Adds the name of the reference to an exception, unless its variable was null. */
  public static MethodInvocationException named(MethodInvocationException e, Object root, ReferenceSite site) {
    if (root != null || site.isStrict) {
      e.setReferenceName(site.root);
    }
    return e;
  }

  private static String[] trace(ReferenceSite site) {
    return site.engine.services.getLogContext().getStackTrace();
  }

  /** Writes the value of a reference that is not escaped. */
  public static void write(Object value, InternalContextAdapter context, Writer out, ReferenceSite site)
      throws IOException {
    if (site.engine.insertsPlainly(context)) {
      if (value instanceof String text) {
        writePrefix(out, site);
        writeText(text, out);
        return;
      }
      if (out instanceof ByteWriter bytes && value instanceof Number number && writesNumber(number, bytes, site)) {
        return;
      }
      writeOther(value, context, out, site);
    } else {
      writeOther(EventHandlerUtil.referenceInsert(site.engine.services, context, site.literal, value), context, out,
          site);
    }
  }

  /** Writes a number without a string and returns true; false for other types of numbers. */
  private static boolean writesNumber(Number value, ByteWriter out, ReferenceSite site) throws IOException {
    if (value instanceof Integer || value instanceof Long) {
      writePrefix(out, site);
      out.writeNumber(value.longValue());
      return true;
    }
    if (value instanceof Double) {
      writePrefix(out, site);
      out.writeNumber(value.doubleValue());
      return true;
    }
    return false;
  }

  private static void writeOther(Object value, InternalContextAdapter context, Writer out, ReferenceSite site)
      throws IOException {
    if (value instanceof Renderable renderable && renders(renderable, context, out, site)) {
      return;
    }
    String text = value == null ? null : DuckTypes.string(value);
    if (text == null) {
      writeNull(value, context, out, site);
    } else {
      writePrefix(out, site);
      writeText(text, out);
    }
  }

  private static boolean renders(Renderable renderable, InternalContextAdapter context, Writer out, ReferenceSite site)
      throws IOException {
    try {
      writePrefix(out, site);
      site.engine.hasRendered = true;
      return renderable.render(context, out);
    } catch (RuntimeException e) {
      site.engine.log.error("Exception rendering " + (renderable instanceof Block.Reference ? "block " : "Renderable ")
          + site.root
          + " at " + StringUtils.formatFileString(site.node));
      throw e;
    }
  }

  /** Writes the text before the value of a reference. */
  public static void writePrefix(Writer out, ReferenceSite site) throws IOException {
    if (!site.prefix.isEmpty()) {
      out.write(site.prefix);
    }
  }

  private static void writeText(String text, Writer out) throws IOException {
    if (out instanceof Filter filter) {
      filter.writeReference(text);
    } else {
      out.write(text);
    }
  }

  private static void writeNull(Object value, InternalContextAdapter context, Writer out, ReferenceSite site)
      throws IOException {
    if (site.isStrict) {
      if (!site.isQuiet) {
        throw strictNull(value, site);
      }
      return;
    }
    String text = nullText(context, site);
    if (!site.node.strictEscape) {
      out.write(site.escapePrefix);
    }
    writePrefix(out, site);
    out.write(text);
    if (site.logsNull && !site.isQuiet) {
      site.engine.log.debug("Null reference [template '{}', line {}, column {}]: {} cannot be resolved.",
          site.node.getTemplateName(), site.node.getLine(), site.node.getColumn(), site.node.literal());
    }
  }

  private static VelocityException strictNull(Object value, ReferenceSite site) {
    site.engine.log.error("Prepend the reference with '$!' e.g., $!{}"
        + " if you want Velocity to ignore the reference when it evaluates to null", site.literal.substring(1));
    String what = value == null
        ? " evaluated to null when attempting to render at "
        : " evaluated to object " + value.getClass().getName() + " whose toString() method returned null at ";
    return new VelocityException("Reference " + site.literal + what + StringUtils.formatFileString(site.node), null,
        trace(site));
  }

  /** Writes an escaped reference: its source, with a backslash if it has no value. */
  static void writeEscaped(Object value, InternalContextAdapter context, Writer out, ReferenceSite site)
      throws IOException {
    String text = nullText(context, site);
    out.write(site.escapePrefix);
    if (value == null) {
      out.write("\\");
    }
    out.write(text);
  }

  @SuppressWarnings("unchecked")
  private static String nullText(InternalContextAdapter context, ReferenceSite site) {
    if (site.engine.keepsLiterals) {
      Deque<String> literals = (Deque<String>) context.get(".literal." + site.nullString);
      if (literals != null && !literals.isEmpty()) {
        return literals.peekFirst();
      }
    }
    return site.nullString;
  }

  /** Returns true if the value of a reference is true as a condition. */
  public static boolean isTrue(Object value, ReferenceSite site) {
    if (value == null) {
      return false;
    }
    try {
      return DuckTypes.isTrue(value, site.engine.checksEmpty);
    } catch (Exception e) {
      throw new VelocityException("Reference evaluation threw an exception at "
          + StringUtils.formatFileString(site.node), e, trace(site));
    }
  }

  /** Returns true if a value needs no alternative. */
  static boolean isPresent(Object value) {
    return DuckTypes.isTrue(value, true);
  }
}
