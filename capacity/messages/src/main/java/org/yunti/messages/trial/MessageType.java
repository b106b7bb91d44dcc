package org.yunti.messages.trial;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Types of messages with their parameters, as far as the objects show them. */
final class MessageType {
  private MessageType() {}

  /** A class with its parameters. */
  private record Parametric(Class<?> raw, List<Type> parameters) implements ParameterizedType {
    @Override
    public Type[] getActualTypeArguments() {
      return parameters.toArray(new Type[0]);
    }

    @Override
    public Type getRawType() {
      return raw;
    }

    @Override
    public Type getOwnerType() {
      return raw.getDeclaringClass();
    }

    @Override
    public String getTypeName() {
      return raw.getName() + parameters;
    }
  }

  /** Returns the type to read messages like this one. */
  static Type of(Object message) {
    Class<?> type = message.getClass();
    if (message instanceof Optional<?> optional) {
      return new Parametric(Optional.class, List.of(optional.<Type>map(MessageType::of).orElse(Object.class)));
    }
    boolean isOfJdk = type.getClassLoader() == null;
    if (isOfJdk && message instanceof Map<?, ?> map) {
      return new Parametric(Map.class, List.of(common(map.keySet()), common(map.values())));
    }
    if (isOfJdk && message instanceof Collection<?> all) {
      Class<?> raw = all instanceof List ? List.class : all instanceof Set ? Set.class : Collection.class;
      return new Parametric(raw, List.of(common(all)));
    }
    if (isOfJdk || type.getTypeParameters().length == 0) {
      return type;
    }
    return new Parametric(type, java.util.Arrays.stream(type.getTypeParameters()).map(v -> bound(v, message)).toList());
  }

  /** Returns the type of a variable of the message's class, by the field that has this type. */
  private static Type bound(TypeVariable<?> variable, Object message) {
    for (Field field : message.getClass().getDeclaredFields()) {
      try {
        if (Modifier.isStatic(field.getModifiers()) || !field.trySetAccessible() || field.get(message) == null) {
          continue;
        }
        Object value = field.get(message);
        Type type = field.getGenericType();
        if (type == variable) {
          return of(value);
        }
        if (type instanceof ParameterizedType it && of(value) instanceof ParameterizedType known
            && it.getActualTypeArguments().length == known.getActualTypeArguments().length) {
          for (int i = 0; i < it.getActualTypeArguments().length; i++) {
            if (it.getActualTypeArguments()[i] == variable) {
              return known.getActualTypeArguments()[i];
            }
          }
        }
      } catch (IllegalAccessException e) {
        // Another field may show it.
      }
    }
    return Object.class;
  }

  private static Type common(Collection<?> all) {
    Type common = null;
    for (Object each : all) {
      if (each == null) {
        continue;
      }
      Type type = of(each);
      if (common != null && !common.equals(type)) {
        return Object.class;
      }
      common = type;
    }
    return common == null ? Object.class : common;
  }
}
