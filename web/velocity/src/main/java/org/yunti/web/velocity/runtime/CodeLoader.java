package org.yunti.web.velocity.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationTargetException;
import org.yunti.web.velocity.tree.CompiledCode;

/** Loader of hidden classes of generated code: each is unloaded with the template that holds it. */
public final class CodeLoader {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  private CodeLoader() {}

  /**
   * Loads a generated class and creates its instance.
   *
   * @param constants class data: the objects that the code uses
   * @throws LinkageError if the class cannot be loaded
   */
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
