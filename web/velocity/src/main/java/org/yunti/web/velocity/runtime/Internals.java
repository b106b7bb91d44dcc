package org.yunti.web.velocity.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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

  private static final VarHandle CHILDREN;
  private static final VarHandle REFERENCE_TYPE;
  private static final VarHandle NULL_STRING;
  private static final VarHandle ESCAPE_PREFIX;
  private static final VarHandle MORE_PREFIX;
  private static final VarHandle ESCAPED;
  private static final VarHandle COMPUTABLE;
  private static final VarHandle LOG_ON_NULL;
  private static final VarHandle SET_MORE_PREFIX;
  private static final VarHandle IF_MORE_PREFIX;
  private static final VarHandle BLOCK_MORE_POSTFIX;
  private static final VarHandle DIRECTIVE;
  private static final VarHandle IS_DIRECTIVE;
  private static final VarHandle STRING_TREE;
  private static final VarHandle LOOPS_MAX;
  private static final VarHandle SKIPS_INVALID;
  private static final VarHandle ELEMENT_KEY;
  private static final VarHandle SCOPE_INDEX;
  private static final VarHandle SCOPE_HAS_NEXT;
  private static final VarHandle TRACKS_LOCATION;
  private static final VarHandle REFERENCE_HANDLERS;
  private static final VarHandle INVALID_HANDLERS;
  private static final VarHandle GETTER_EXECUTOR;
  private static final VarHandle WRAPS_ARRAY;
  private static final VarHandle METHOD_WRAPS_ARRAY;
  private static final VarHandle METHOD_CONVERTERS;
  private static final VarHandle STRICT_MATH;
  private static final VarHandle STRICT_NEGATE;

  private Internals() {}

  /** Looks fields up until one is missing. */
  private static final class Fields {
    String missing;

    VarHandle of(Class<?> owner, String name, Class<?> type) {
      try {
        return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, type);
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
    SCOPE_INDEX = fields.of(ForeachScope.class, "index", int.class);
    SCOPE_HAS_NEXT = fields.of(ForeachScope.class, "hasNext", boolean.class);
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

  public static void setChildren(SimpleNode parent, Node[] children) {
    CHILDREN.set(parent, children);
  }

  /** 4: a runt, which is no reference. */
  public static int referenceType(ASTReference node) {
    return (int) REFERENCE_TYPE.get(node);
  }

  public static String nullString(ASTReference node) {
    return (String) NULL_STRING.get(node);
  }

  public static String escapePrefix(ASTReference node) {
    return (String) ESCAPE_PREFIX.get(node);
  }

  public static String morePrefix(ASTReference node) {
    return (String) MORE_PREFIX.get(node);
  }

  public static boolean isEscaped(ASTReference node) {
    return (boolean) ESCAPED.get(node);
  }

  public static boolean isComputable(ASTReference node) {
    return (boolean) COMPUTABLE.get(node);
  }

  static boolean logsNull(ASTReference node) {
    return (boolean) LOG_ON_NULL.get(node);
  }

  public static String morePrefix(ASTSetDirective node) {
    return (String) SET_MORE_PREFIX.get(node);
  }

  public static String morePrefix(ASTIfStatement node) {
    return (String) IF_MORE_PREFIX.get(node);
  }

  public static String morePostfix(ASTBlock node) {
    return (String) BLOCK_MORE_POSTFIX.get(node);
  }

  public static Directive directive(ASTDirective node) {
    return (Directive) DIRECTIVE.get(node);
  }

  public static boolean isDirective(ASTDirective node) {
    return (boolean) IS_DIRECTIVE.get(node);
  }

  public static SimpleNode tree(ASTStringLiteral node) {
    return (SimpleNode) STRING_TREE.get(node);
  }

  static int loopsMax(Foreach directive) {
    return (int) LOOPS_MAX.get(directive);
  }

  static boolean skipsInvalid(Foreach directive) {
    return (boolean) SKIPS_INVALID.get(directive);
  }

  static String elementKey(Foreach directive) {
    return (String) ELEMENT_KEY.get(directive);
  }

  static void advance(ForeachScope scope, boolean hasNext) {
    SCOPE_INDEX.set(scope, (int) SCOPE_INDEX.get(scope) + 1);
    SCOPE_HAS_NEXT.set(scope, hasNext);
  }

  static boolean tracksLocation(LogContext context) {
    return (boolean) TRACKS_LOCATION.get(context);
  }

  static List<?> referenceHandlers(EventCartridge cartridge) {
    return (List<?>) REFERENCE_HANDLERS.get(cartridge);
  }

  static List<?> invalidReferenceHandlers(EventCartridge cartridge) {
    return (List<?>) INVALID_HANDLERS.get(cartridge);
  }

  static AbstractExecutor executor(UberspectImpl.VelGetterImpl getter) {
    return (AbstractExecutor) GETTER_EXECUTOR.get(getter);
  }

  static boolean wrapsArray(PropertyExecutor executor) {
    return (boolean) WRAPS_ARRAY.get(executor);
  }

  /** A call that is no more than that of its method. */
  static boolean isPlain(UberspectImpl.VelMethodImpl method) {
    return !(boolean) METHOD_WRAPS_ARRAY.get(method) && METHOD_CONVERTERS.get(method) == null && !method.isVarArg();
  }

  static boolean isStrict(ASTMathNode node) {
    return (boolean) STRICT_MATH.get(node);
  }

  static boolean isStrict(ASTNegateNode node) {
    return (boolean) STRICT_NEGATE.get(node);
  }
}
