package org.yunti.web.velocity.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationTargetException;
import org.yunti.web.velocity.tree.CompiledCode;

/** Makes hidden classes of generated code: each goes away with the template that holds it. */
public final class CodeLoader {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  private CodeLoader() {}

  /** @param constants what the class finds as its class data: the objects that its code speaks of */
  public static CompiledCode load(byte[] bytecode, Object[] constants) {
    try {
      Class<?> hidden = LOOKUP.defineHiddenClassWithClassData(bytecode, constants, true).lookupClass();
      return (CompiledCode) hidden.getDeclaredConstructor().newInstance();
    } catch (InvocationTargetException e) {
      throw new LinkageError("a template's class cannot be made", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("a template's class cannot be made", e);
    }
  }
}
