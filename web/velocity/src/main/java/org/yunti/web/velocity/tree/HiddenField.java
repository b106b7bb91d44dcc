package org.yunti.web.velocity.tree;

import java.lang.reflect.Field;

/**
 * Hidden field of a Velocity class, by reflection: it is read at compile time, and a method handle would take longer to
 * create.
 *
 * @param <O> class of the field
 * @param <T> type of the field
 */
public final class HiddenField<O, T> {
  private final Field field;

  private HiddenField(Field field) {
    this.field = field;
  }

  /**
   * Finds a field.
   *
   * @param type type of the field: {@code T} without type arguments
   */
  static <O, T> HiddenField<O, T> find(Class<O> owner, String name, Class<? super T> type) throws NoSuchFieldException {
    Field field = owner.getDeclaredField(name);
    if (field.getType() != type) {
      throw new NoSuchFieldException("is a " + field.getType().getName());
    }
    field.setAccessible(true);
    return new HiddenField<>(field);
  }

  /** Returns the field's value. */
  @SuppressWarnings("unchecked") // find has compared the type
  public T of(O owner) {
    try {
      return (T) field.get(owner);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e); // the field is accessible
    }
  }

  /** Sets the field. */
  public void set(O owner, T value) {
    try {
      field.set(owner, value);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e); // the field is accessible
    }
  }
}
