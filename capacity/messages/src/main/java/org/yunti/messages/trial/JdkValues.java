package org.yunti.messages.trial;

import java.lang.reflect.InvocationTargetException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.ZoneId;
import java.util.Currency;
import java.util.Date;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Values of the JDK, made again from their texts. */
final class JdkValues {
  private JdkValues() {}

  /** Finds a class by its name. */
  interface Classes {
    Class<?> of(String name) throws ClassNotFoundException;
  }

  static Object of(String type, Object value, Classes classes) throws ReflectiveOperationException {
    if (type.equals("java.util.Optional")) {
      return Optional.ofNullable(value);
    }
    String text = (String) value;
    return switch (type) {
      case "java.math.BigDecimal" -> new BigDecimal(text);
      case "java.math.BigInteger" -> new BigInteger(text);
      case "java.util.UUID" -> UUID.fromString(text);
      case "java.net.URI" -> URI.create(text);
      case "java.lang.StringBuilder" -> new StringBuilder(text);
      case "java.lang.StringBuffer" -> new StringBuffer(text);
      case "java.util.concurrent.atomic.AtomicInteger" -> new AtomicInteger(Integer.parseInt(text));
      case "java.util.concurrent.atomic.AtomicLong" -> new AtomicLong(Long.parseLong(text));
      case "java.util.concurrent.atomic.AtomicBoolean" -> new AtomicBoolean(Boolean.parseBoolean(text));
      case "java.util.Date" -> new Date(Long.parseLong(text));
      case "java.util.Locale" -> Locale.forLanguageTag(text);
      case "java.util.Currency" -> Currency.getInstance(text);
      case "java.time.ZoneId" -> ZoneId.of(text);
      case "java.lang.Class" -> classes.of(text);
      default -> other(type, text);
    };
  }

  private static Object other(String type, String text) throws ReflectiveOperationException {
    Class<?> of = Class.forName(type);
    try {
      if (type.startsWith("java.sql.")) {
        return of.getConstructor(long.class).newInstance(Long.parseLong(text));
      }
      // Times: all have a method parse.
      return type.equals("java.time.Year") ? of.getMethod("of", int.class).invoke(null, Integer.parseInt(text))
          : of.getMethod("parse", CharSequence.class).invoke(null, text);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(type + " of " + text, e.getCause());
    }
  }
}
