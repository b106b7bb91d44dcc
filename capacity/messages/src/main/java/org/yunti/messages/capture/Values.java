package org.yunti.messages.capture;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Currency;
import java.util.Date;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.yunti.messages.text.Json;

/** Values of the JDK as trees: numbers, times, identifiers. Redaction keeps their length and magnitude. */
final class Values {
  /** Largest shift of a redacted time in days. */
  private static final int DAYS = 360;

  private Values() {}

  /** Returns the tree of a boxed number or character; null for another number. */
  static Object number(Object it, Redactor redactor) {
    if (it instanceof Integer i) {
      return Walker.map("i", redactor == null ? i : redactor.whole(i, Integer.MAX_VALUE));
    } else if (it instanceof Long l) {
      return Walker.map("l", redactor == null ? l : redactor.whole(l, Long.MAX_VALUE));
    } else if (it instanceof Short s) {
      return Walker.map("h", redactor == null ? s : redactor.whole(s, Short.MAX_VALUE));
    } else if (it instanceof Byte b) {
      return Walker.map("b", redactor == null ? b : redactor.whole(b, Byte.MAX_VALUE));
    } else if (it instanceof Double d) {
      return Walker.map("d", redactor == null || !Double.isFinite(d) ? d.toString() : redactor.digits(d.toString()));
    } else if (it instanceof Float f) {
      return Walker.map("f", redactor == null || !Float.isFinite(f) ? f.toString() : redactor.digits(f.toString()));
    } else if (it instanceof Character c) {
      return Walker.map("x", redactor == null ? c.toString() : redactor.text(c.toString()));
    } else if (it instanceof BigDecimal || it instanceof BigInteger || it instanceof AtomicInteger
        || it instanceof AtomicLong) {
      return Walker.map("t", it.getClass().getName(),
          "v", redactor == null ? it.toString() : redactor.digits(it.toString()));
    }
    return null;
  }

  /** Returns the tree of a value; null for an object that is none. {@code inner} walks what a value holds. */
  static Object value(Object it, Redactor redactor, Function<Object, Object> inner) {
    if (it instanceof Optional<?> optional) {
      return Walker.map("t", Optional.class.getName(), "v", inner.apply(optional.orElse(null)));
    }
    String type = it.getClass().getName();
    Object kept = kept(it);
    if (kept != null) {
      return kept;
    }
    if (it instanceof UUID uuid) {
      UUID other = redactor == null ? uuid : new UUID(hex(redactor, uuid.getMostSignificantBits()),
          hex(redactor, uuid.getLeastSignificantBits()));
      return Walker.map("t", type, "v", other.toString());
    } else if (it instanceof URI || it instanceof StringBuilder || it instanceof StringBuffer) {
      return Walker.map("t", type, "v", new Json.Text(it.toString()));
    } else if (it instanceof Date date && (type.equals("java.util.Date") || type.startsWith("java.sql."))) {
      long shift = redactor == null ? 0 : days(redactor, it) * 86_400_000L;
      return Walker.map("t", type, "v", Long.toString(date.getTime() + shift));
    }
    Object time = redactor == null ? it : shifted(it, redactor);
    return time == null ? null : isTime(time) ? Walker.map("t", type, "v", time.toString()) : null;
  }

  /** Returns the tree of a value that says nothing about a person. */
  private static Object kept(Object it) {
    String type = it.getClass().getName();
    if (it instanceof ZoneId zone) {
      return Walker.map("t", ZoneId.class.getName(), "v", zone.getId());
    } else if (it instanceof Locale locale) {
      return Walker.map("t", type, "v", locale.toLanguageTag());
    } else if (it instanceof Class<?> of) {
      return Walker.map("t", type, "v", of.getName());
    } else if (it instanceof Currency || it instanceof AtomicBoolean) {
      return Walker.map("t", type, "v", it.toString());
    }
    return null;
  }

  private static boolean isTime(Object it) {
    return it instanceof Instant || it instanceof LocalDate || it instanceof LocalDateTime || it instanceof LocalTime
        || it instanceof ZonedDateTime || it instanceof OffsetDateTime || it instanceof OffsetTime || it instanceof Year
        || it instanceof YearMonth || it instanceof MonthDay || it instanceof Duration || it instanceof Period;
  }

  private static long days(Redactor redactor, Object it) {
    return 1 + Math.floorMod(redactor.text(it.toString()).hashCode(), DAYS);
  }

  /** Returns a time some days later. A time of day, a length and a year stay. */
  private static Object shifted(Object it, Redactor redactor) {
    if (it instanceof Instant instant) {
      return instant.plusSeconds(days(redactor, it) * 86_400);
    } else if (it instanceof LocalDate date) {
      return date.plusDays(days(redactor, it));
    } else if (it instanceof LocalDateTime time) {
      return time.plusDays(days(redactor, it));
    } else if (it instanceof ZonedDateTime time) {
      return time.plusDays(days(redactor, it));
    } else if (it instanceof OffsetDateTime time) {
      return time.plusDays(days(redactor, it));
    }
    return it;
  }

  private static long hex(Redactor redactor, long bits) {
    byte[] text = redactor.text(Long.toString(bits)).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    long out = 0;
    for (byte each : text) {
      out = out * 0x9e3779b97f4a7c15L + each;
    }
    return out;
  }
}
