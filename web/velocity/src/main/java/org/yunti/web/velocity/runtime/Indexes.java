package org.yunti.web.velocity.runtime;

import java.util.ArrayList;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.exception.VelocityException;
import org.apache.velocity.runtime.parser.node.ASTIndex;
import org.apache.velocity.util.ClassUtils;
import org.apache.velocity.util.StringUtils;
import org.apache.velocity.util.introspection.VelMethod;

/** Evaluation of {@code [index]} in references with a computed index, as {@link ASTIndex}. */
final class Indexes {
  private Indexes() {}

  static Object get(Object receiver, Object index, InternalContextAdapter context, IndexSite site) {
    if (site.engine.isUberspectStock
        && index instanceof Integer at
        && receiver.getClass() == ArrayList.class
        && at >= 0
        && at < ((ArrayList<?>) receiver).size()) {
      return ((ArrayList<?>) receiver).get(at);
    }
    Object argument = ASTIndex.adjMinusIndexArg(index, receiver, context, site.node);
    Object[] arguments = {argument};
    Class<?>[] classes = {argument == null ? null : argument.getClass()};
    VelMethod method = ClassUtils.getMethod("get", arguments, classes, receiver, context, site.node,
        site.engine.isStrict);
    if (method == null) {
      return null;
    }
    try {
      Object result = method.invoke(receiver, arguments);
      return result == null && method.getReturnType() == void.class ? "" : result;
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      String message = "Error invoking method 'get(" + (argument == null ? "null" : argument.getClass().getName())
          + ")' in "
          + receiver.getClass().getName() + " at " + StringUtils.formatFileString(site.node);
      site.engine.log.error(message, e);
      throw new VelocityException(message, e, site.engine.services.getLogContext().getStackTrace());
    }
  }
}
