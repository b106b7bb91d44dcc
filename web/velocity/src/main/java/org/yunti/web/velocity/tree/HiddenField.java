package org.yunti.web.velocity.tree;

import java.lang.reflect.Field;

/**
 * A field that a class of Velocity does not show. By reflection: it is read when a template is compiled, and a method handle would take
 * longer to make.
 *
 * @param <O> the class that has it
 * @param <T> its type
 */
public final class HiddenField<O, T> {
  private final Field field;

  private HiddenField(Field field) {
    this.field = field;
  }

  /** @param type that of the field, and without its type arguments that of {@code T} */
  static <O, T> HiddenField<O, T> find(Class<O> owner, String name, Class<? super T> type) throws NoSuchFieldException {
    Field field = owner.getDeclaredField(name);
    if (field.getType() != type) {
      throw new NoSuchFieldException("is a " + field.getType().getName());
    }
    field.setAccessible(true);
    return new HiddenField<>(field);
  }

  @SuppressWarnings("unchecked") // find has compared it
  public T of(O owner) {
    try {
      return (T) field.get(owner);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e); // it was made accessible
    }
  }

  public void set(O owner, T value) {
    try {
      field.set(owner, value);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e); // it was made accessible
    }
  }
}
