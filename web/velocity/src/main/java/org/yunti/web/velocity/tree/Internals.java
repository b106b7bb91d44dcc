package org.yunti.web.velocity.tree;

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
import org.apache.velocity.util.introspection.Converter;
import org.apache.velocity.util.introspection.UberspectImpl;

/**
 * Hidden fields of Velocity's syntax tree, complete. If a version of Velocity lacks one of them, its templates are not
 * compiled but interpreted.
 */
public final class Internals {
  /** Reason why this version of Velocity cannot be compiled; null if it can. */
  public static final String MISSING;

  public static final HiddenField<SimpleNode, Node[]> CHILDREN;
  /** Type of a reference; 4: a runt, which is plain text. */
  public static final HiddenField<ASTReference, Integer> REFERENCE_TYPE;
  public static final HiddenField<ASTReference, String> NULL_STRING;
  public static final HiddenField<ASTReference, String> ESCAPE_PREFIX;
  public static final HiddenField<ASTReference, String> MORE_PREFIX;
  public static final HiddenField<ASTReference, Boolean> IS_ESCAPED;
  public static final HiddenField<ASTReference, Boolean> IS_COMPUTABLE;
  public static final HiddenField<ASTReference, Boolean> LOGS_NULL;
  public static final HiddenField<ASTSetDirective, String> SET_MORE_PREFIX;
  public static final HiddenField<ASTIfStatement, String> IF_MORE_PREFIX;
  public static final HiddenField<ASTBlock, String> BLOCK_MORE_POSTFIX;
  public static final HiddenField<ASTDirective, Directive> DIRECTIVE;
  public static final HiddenField<ASTDirective, Boolean> IS_DIRECTIVE;
  public static final HiddenField<ASTStringLiteral, SimpleNode> STRING_TREE;
  public static final HiddenField<Foreach, Integer> LOOPS_MAX;
  public static final HiddenField<Foreach, Boolean> SKIPS_INVALID;
  public static final HiddenField<Foreach, String> ELEMENT_KEY;
  public static final HiddenField<LogContext, Boolean> TRACKS_LOCATION;
  public static final HiddenField<EventCartridge, List<?>> REFERENCE_HANDLERS;
  public static final HiddenField<EventCartridge, List<?>> INVALID_HANDLERS;
  public static final HiddenField<UberspectImpl.VelGetterImpl, AbstractExecutor> GETTER_EXECUTOR;
  public static final HiddenField<PropertyExecutor, Boolean> WRAPS_ARRAY;
  private static final HiddenField<UberspectImpl.VelMethodImpl, Boolean> METHOD_WRAPS_ARRAY;
  private static final HiddenField<UberspectImpl.VelMethodImpl, Converter<?>[]> METHOD_CONVERTERS;
  public static final HiddenField<ASTMathNode, Boolean> STRICT_MATH;
  public static final HiddenField<ASTNegateNode, Boolean> STRICT_NEGATE;

  private Internals() {}

  /** Lookup of fields that keeps the reason of the first missing one. */
  private static final class Fields {
    String missing;

    <O, T> HiddenField<O, T> of(Class<O> owner, String name, Class<? super T> type) {
      try {
        return HiddenField.find(owner, name, type);
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
    IS_ESCAPED = fields.of(ASTReference.class, "escaped", boolean.class);
    IS_COMPUTABLE = fields.of(ASTReference.class, "computableReference", boolean.class);
    LOGS_NULL = fields.of(ASTReference.class, "logOnNull", boolean.class);
    SET_MORE_PREFIX = fields.of(ASTSetDirective.class, "morePrefix", String.class);
    IF_MORE_PREFIX = fields.of(ASTIfStatement.class, "morePrefix", String.class);
    BLOCK_MORE_POSTFIX = fields.of(ASTBlock.class, "morePostfix", String.class);
    DIRECTIVE = fields.of(ASTDirective.class, "directive", Directive.class);
    IS_DIRECTIVE = fields.of(ASTDirective.class, "isDirective", boolean.class);
    STRING_TREE = fields.of(ASTStringLiteral.class, "nodeTree", SimpleNode.class);
    LOOPS_MAX = fields.of(Foreach.class, "maxNbrLoops", int.class);
    SKIPS_INVALID = fields.of(Foreach.class, "skipInvalidIterator", boolean.class);
    ELEMENT_KEY = fields.of(Foreach.class, "elementKey", String.class);
    TRACKS_LOCATION = fields.of(LogContext.class, "trackLocation", boolean.class);
    REFERENCE_HANDLERS = fields.of(EventCartridge.class, "referenceHandlers", List.class);
    INVALID_HANDLERS = fields.of(EventCartridge.class, "invalidReferenceHandlers", List.class);
    GETTER_EXECUTOR = fields.of(UberspectImpl.VelGetterImpl.class, "getExecutor", AbstractExecutor.class);
    WRAPS_ARRAY = fields.of(PropertyExecutor.class, "wrapArray", boolean.class);
    METHOD_WRAPS_ARRAY = fields.of(UberspectImpl.VelMethodImpl.class, "wrapArray", boolean.class);
    METHOD_CONVERTERS = fields.of(UberspectImpl.VelMethodImpl.class, "converters", Converter[].class);
    STRICT_MATH = fields.of(ASTMathNode.class, "strictMode", boolean.class);
    STRICT_NEGATE = fields.of(ASTNegateNode.class, "strictMode", boolean.class);
    fields.of(ForeachScope.class, "index", int.class); // LoopScopes
    fields.of(ForeachScope.class, "hasNext", boolean.class);
    MISSING = fields.missing;
  }

  /** Returns true if a call only calls its method. */
  public static boolean isPlain(UberspectImpl.VelMethodImpl method) {
    return !METHOD_WRAPS_ARRAY.of(method) && METHOD_CONVERTERS.of(method) == null && !method.isVarArg();
  }
}
