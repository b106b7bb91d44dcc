package org.yunti.web.velocity.runtime;

import java.lang.reflect.Field;
import java.util.List;
import org.apache.velocity.app.event.EventCartridge;
import org.apache.velocity.runtime.directive.Directive;
import org.apache.velocity.runtime.directive.Foreach;
import org.apache.velocity.runtime.directive.ForeachScope;
import org.apache.velocity.runtime.parser.LogContext;
import org.apache.velocity.runtime.parser.node.ASTBlock;
import org.apache.velocity.runtime.parser.node.ASTDirective;
import org.apache.velocity.runtime.parser.node.ASTIfStatement;
import org.apache.velocity.runtime.parser.node.ASTMathNode;
import org.apache.velocity.runtime.parser.node.ASTNegateNode;
import org.apache.velocity.runtime.parser.node.ASTReference;
import org.apache.velocity.runtime.parser.node.ASTSetDirective;
import org.apache.velocity.runtime.parser.node.ASTStringLiteral;
import org.apache.velocity.runtime.parser.node.AbstractExecutor;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.PropertyExecutor;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.apache.velocity.util.introspection.UberspectImpl;

/**
 * What Velocity's syntax tree knows and does not tell. All of it is listed here: a version of Velocity in which one of these fields is
 * called otherwise is not compiled, and interpreted instead.
 */
public final class Internals {
  /** Why nothing can be compiled with the Velocity that is here; null: it can. */
  public static final String MISSING;

  private static final Field CHILDREN;
  private static final Field REFERENCE_TYPE;
  private static final Field NULL_STRING;
  private static final Field ESCAPE_PREFIX;
  private static final Field MORE_PREFIX;
  private static final Field ESCAPED;
  private static final Field COMPUTABLE;
  private static final Field LOG_ON_NULL;
  private static final Field SET_MORE_PREFIX;
  private static final Field IF_MORE_PREFIX;
  private static final Field BLOCK_MORE_POSTFIX;
  private static final Field DIRECTIVE;
  private static final Field IS_DIRECTIVE;
  private static final Field STRING_TREE;
  private static final Field LOOPS_MAX;
  private static final Field SKIPS_INVALID;
  private static final Field ELEMENT_KEY;
  private static final Field TRACKS_LOCATION;
  private static final Field REFERENCE_HANDLERS;
  private static final Field INVALID_HANDLERS;
  private static final Field GETTER_EXECUTOR;
  private static final Field WRAPS_ARRAY;
  private static final Field METHOD_WRAPS_ARRAY;
  private static final Field METHOD_CONVERTERS;
  private static final Field STRICT_MATH;
  private static final Field STRICT_NEGATE;

  private Internals() {}

  /** Looks fields up until one is missing. By reflection: it is read when a template is compiled, and method handles would take longer to make. */
  private static final class Fields {
    String missing;

    Field of(Class<?> owner, String name, Class<?> type) {
      try {
        Field field = owner.getDeclaredField(name);
        if (field.getType() != type) {
          throw new NoSuchFieldException("is a " + field.getType().getName());
        }
        field.setAccessible(true);
        return field;
      } catch (ReflectiveOperationException | RuntimeException e) {
        if (missing == null) {
          missing = owner.getName() + "." + name + ": " + e;
        }
        return null;
      }
    }
  }

  static {
    Fields fields = new Fields();
    CHILDREN = fields.of(SimpleNode.class, "children", Node[].class);
    REFERENCE_TYPE = fields.of(ASTReference.class, "referenceType", int.class);
    NULL_STRING = fields.of(ASTReference.class, "nullString", String.class);
    ESCAPE_PREFIX = fields.of(ASTReference.class, "escPrefix", String.class);
    MORE_PREFIX = fields.of(ASTReference.class, "morePrefix", String.class);
    ESCAPED = fields.of(ASTReference.class, "escaped", boolean.class);
    COMPUTABLE = fields.of(ASTReference.class, "computableReference", boolean.class);
    LOG_ON_NULL = fields.of(ASTReference.class, "logOnNull", boolean.class);
    SET_MORE_PREFIX = fields.of(ASTSetDirective.class, "morePrefix", String.class);
    IF_MORE_PREFIX = fields.of(ASTIfStatement.class, "morePrefix", String.class);
    BLOCK_MORE_POSTFIX = fields.of(ASTBlock.class, "morePostfix", String.class);
    DIRECTIVE = fields.of(ASTDirective.class, "directive", Directive.class);
    IS_DIRECTIVE = fields.of(ASTDirective.class, "isDirective", boolean.class);
    STRING_TREE = fields.of(ASTStringLiteral.class, "nodeTree", SimpleNode.class);
    LOOPS_MAX = fields.of(Foreach.class, "maxNbrLoops", int.class);
    SKIPS_INVALID = fields.of(Foreach.class, "skipInvalidIterator", boolean.class);
    ELEMENT_KEY = fields.of(Foreach.class, "elementKey", String.class);
    fields.of(ForeachScope.class, "index", int.class); // LoopScopes
    fields.of(ForeachScope.class, "hasNext", boolean.class);
    TRACKS_LOCATION = fields.of(LogContext.class, "trackLocation", boolean.class);
    REFERENCE_HANDLERS = fields.of(EventCartridge.class, "referenceHandlers", List.class);
    INVALID_HANDLERS = fields.of(EventCartridge.class, "invalidReferenceHandlers", List.class);
    GETTER_EXECUTOR = fields.of(UberspectImpl.VelGetterImpl.class, "getExecutor", AbstractExecutor.class);
    WRAPS_ARRAY = fields.of(PropertyExecutor.class, "wrapArray", boolean.class);
    METHOD_WRAPS_ARRAY = fields.of(UberspectImpl.VelMethodImpl.class, "wrapArray", boolean.class);
    METHOD_CONVERTERS = fields.of(UberspectImpl.VelMethodImpl.class, "converters",
        org.apache.velocity.util.introspection.Converter[].class);
    STRICT_MATH = fields.of(ASTMathNode.class, "strictMode", boolean.class);
    STRICT_NEGATE = fields.of(ASTNegateNode.class, "strictMode", boolean.class);
    MISSING = fields.missing;
  }

  private static Object get(Field field, Object owner) {
    try {
      return field.get(owner);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e); // it was made accessible
    }
  }

  public static void setChildren(SimpleNode parent, Node[] children) {
    try {
      CHILDREN.set(parent, children);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e); // it was made accessible
    }
  }

  /** 4: a runt, which is no reference. */
  public static int referenceType(ASTReference node) {
    return (int) get(REFERENCE_TYPE, node);
  }

  public static String nullString(ASTReference node) {
    return (String) get(NULL_STRING, node);
  }

  public static String escapePrefix(ASTReference node) {
    return (String) get(ESCAPE_PREFIX, node);
  }

  public static String morePrefix(ASTReference node) {
    return (String) get(MORE_PREFIX, node);
  }

  public static boolean isEscaped(ASTReference node) {
    return (boolean) get(ESCAPED, node);
  }

  public static boolean isComputable(ASTReference node) {
    return (boolean) get(COMPUTABLE, node);
  }

  static boolean logsNull(ASTReference node) {
    return (boolean) get(LOG_ON_NULL, node);
  }

  public static String morePrefix(ASTSetDirective node) {
    return (String) get(SET_MORE_PREFIX, node);
  }

  public static String morePrefix(ASTIfStatement node) {
    return (String) get(IF_MORE_PREFIX, node);
  }

  public static String morePostfix(ASTBlock node) {
    return (String) get(BLOCK_MORE_POSTFIX, node);
  }

  public static Directive directive(ASTDirective node) {
    return (Directive) get(DIRECTIVE, node);
  }

  public static boolean isDirective(ASTDirective node) {
    return (boolean) get(IS_DIRECTIVE, node);
  }

  public static SimpleNode tree(ASTStringLiteral node) {
    return (SimpleNode) get(STRING_TREE, node);
  }

  static int loopsMax(Foreach directive) {
    return (int) get(LOOPS_MAX, directive);
  }

  static boolean skipsInvalid(Foreach directive) {
    return (boolean) get(SKIPS_INVALID, directive);
  }

  static String elementKey(Foreach directive) {
    return (String) get(ELEMENT_KEY, directive);
  }

  static boolean tracksLocation(LogContext context) {
    return (boolean) get(TRACKS_LOCATION, context);
  }

  static List<?> referenceHandlers(EventCartridge cartridge) {
    return (List<?>) get(REFERENCE_HANDLERS, cartridge);
  }

  static List<?> invalidReferenceHandlers(EventCartridge cartridge) {
    return (List<?>) get(INVALID_HANDLERS, cartridge);
  }

  static AbstractExecutor executor(UberspectImpl.VelGetterImpl getter) {
    return (AbstractExecutor) get(GETTER_EXECUTOR, getter);
  }

  static boolean wrapsArray(PropertyExecutor executor) {
    return (boolean) get(WRAPS_ARRAY, executor);
  }

  /** A call that is no more than that of its method. */
  static boolean isPlain(UberspectImpl.VelMethodImpl method) {
    return !(boolean) get(METHOD_WRAPS_ARRAY, method) && get(METHOD_CONVERTERS, method) == null && !method.isVarArg();
  }

  static boolean isStrict(ASTMathNode node) {
    return (boolean) get(STRICT_MATH, node);
  }

  static boolean isStrict(ASTNegateNode node) {
    return (boolean) get(STRICT_NEGATE, node);
  }
}
