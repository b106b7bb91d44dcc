package org.yunti.web.velocity.runtime;

import java.util.ArrayList;
import java.util.List;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.exception.MathException;
import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.parser.node.ASTComparisonNode;
import org.apache.velocity.runtime.parser.node.ASTEQNode;
import org.apache.velocity.runtime.parser.node.ASTIntegerRange;
import org.apache.velocity.runtime.parser.node.ASTMathNode;
import org.apache.velocity.runtime.parser.node.ASTNegateNode;
import org.apache.velocity.runtime.parser.node.MathUtils;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.apache.velocity.util.DuckType;
import org.apache.velocity.util.StringUtils;
import org.slf4j.Logger;
import org.yunti.web.velocity.tree.EngineFacts;
import org.yunti.web.velocity.tree.Internals;

/**
 * Runtime of operators for generated code, with computed operands. The rules are those of the nodes, which it calls
 * where possible.
 */
final class Operators {
  private Operators() {}

  /** Compares two values: ==, <, <=, >, >=; != is the opposite of ==. */
  static boolean compare(Object left, Object right, ASTComparisonNode node) {
    if (left == null || right == null) {
      return node.compareNull(left, right);
    }
    if (left instanceof Integer a && right instanceof Integer b) {
      return node.numberTest(Integer.compare(a, b));
    }
    if (left instanceof Double || right instanceof Double) {
      Double a = asDouble(left);
      Double b = asDouble(right);
      if (a != null && b != null) {
        // As MathUtils.compare: values that are neither less nor more are equal, also NaN.
        return node.numberTest(a < b ? -1 : a > b ? 1 : 0);
      }
    }
    if (left instanceof String a && right instanceof String b) {
      return node instanceof ASTEQNode ? a.equals(b) : node.compareNonNumber(a, b);
    }
    Boolean result = node.compareNumbers(left, right);
    return result == null ? node.compareNonNumber(left, right) : result;
  }

  private static Double asDouble(Object value) {
    return value instanceof Double || value instanceof Integer || value instanceof Long ? ((Number) value).doubleValue()
        : null;
  }

  /** Adds texts or numbers. */
  static Object add(Object left, Object right, ASTMathNode node, InternalContextAdapter context) {
    if (left instanceof Integer a && right instanceof Integer b) {
      return whole((long) a + b);
    }
    // Variables are named as in Velocity: the JVM's message names the null one if an object's text is null.
    String lstr = DuckType.asString(left, false);
    String rstr = DuckType.asString(right, false);
    if (lstr == null && rstr == null) {
      return calculate(left, right, node, context);
    }
    if (lstr == null) {
      lstr = left != null ? left.toString() : node.jjtGetChild(0).literal();
    } else if (rstr == null) {
      rstr = right != null ? right.toString() : node.jjtGetChild(1).literal();
    }
    return lstr.concat(rstr);
  }

  /** Returns the result of two Integers in the type of MathUtils.wrapPrimitive. */
  private static Number whole(long value) {
    if (value == (int) value) {
      return (int) value;
    }
    return value;
  }

  static Object subtract(Object left, Object right, ASTMathNode node, InternalContextAdapter context) {
    return left instanceof Integer a && right instanceof Integer b ? whole((long) a - b)
        : calculate(left, right, node, context);
  }

  static Object multiply(Object left, Object right, ASTMathNode node, InternalContextAdapter context) {
    return left instanceof Integer a && right instanceof Integer b ? whole((long) a * b)
        : calculate(left, right, node, context);
  }

  static Object divide(Object left, Object right, ASTMathNode node, InternalContextAdapter context) {
    return left instanceof Integer a && right instanceof Integer b && b != 0 ? whole((long) a / b)
        : calculate(left, right, node, context);
  }

  static Object modulo(Object left, Object right, ASTMathNode node, InternalContextAdapter context) {
    return left instanceof Integer a && right instanceof Integer b && b != 0 ? whole((long) a % b)
        : calculate(left, right, node, context);
  }

  /** Calculates with numbers, by the node's own rule. */
  private static Object calculate(Object left, Object right, ASTMathNode node, InternalContextAdapter context) {
    Object a = number(left);
    Object b = number(right);
    if (a instanceof Number x && b instanceof Number y) {
      return node.perform(x, y, context);
    }
    boolean isRight = a instanceof Number;
    boolean hasValue = isRight ? b != null : a != null;
    String message = (isRight ? "Right" : "Left") + " side of math operation (" + node.jjtGetChild(isRight ? 1 : 0)
        .literal() + ") "
        + (hasValue ? "is not a Number. " : "has a null value. ") + StringUtils.formatFileString(node);
    return failed(message, Internals.STRICT_MATH.of(node), node);
  }

  static Object negate(Object value, ASTNegateNode node) {
    Object number = number(value);
    if (number instanceof Number n) {
      return MathUtils.negate(n);
    }
    String message = "Argument of unary negate (" + node.jjtGetChild(0).literal() + ") "
        + (number == null ? "has a null value." : "is not a Number.");
    return failed(message, Internals.STRICT_NEGATE.of(node), node);
  }

  /** Reports an operation without a result: throws in strict mode, else logs and returns null. */
  private static Object failed(String message, boolean isStrict, SimpleNode node) {
    if (isStrict) {
      log(node).error(message);
      throw new MathException(message, node.getRuntimeServices().getLogContext().getStackTrace());
    }
    log(node).debug(message);
    return null;
  }

  private static Logger log(SimpleNode node) {
    return node.getRuntimeServices().getLog("rendering");
  }

  /** Returns the range [left..right]. */
  static Object range(Object left, Object right, ASTIntegerRange node) {
    if (left == null || right == null) {
      log(node).error((left == null ? "Left" : "Right")
          + " side of range operator [n..m] has null value. Operation not possible. "
          + StringUtils.formatFileString(node));
      return null;
    }
    Object a = number(left);
    Object b = number(right);
    if (!(a instanceof Number x) || !(b instanceof Number y)) {
      log(node).error((a instanceof Number ? "Right" : "Left")
          + " side of range operator is not convertible to a Number. " + StringUtils.formatFileString(node));
      return null;
    }
    int from = x.intValue();
    int to = y.intValue();
    var range = new ASTIntegerRange.IntegerRange(from, to, from >= to ? -1 : 1);
    if (node.getRuntimeServices().getBoolean(RuntimeConstants.IMMUTABLE_RANGES, true)) {
      return range;
    }
    List<Object> mutable = new ArrayList<>(Math.abs(to - from) + 1);
    for (Integer value : range) {
      mutable.add(value);
    }
    return mutable;
  }

  /** Returns the value as a number, or unchanged if it is no number. */
  private static Object number(Object value) {
    if (value instanceof Number) {
      return value;
    }
    try {
      return DuckType.asNumber(value);
    } catch (NumberFormatException e) {
      return value;
    }
  }

  static boolean isTrue(String text, EngineFacts engine) {
    return text != null && (!engine.checksEmpty || !text.isEmpty());
  }
}
