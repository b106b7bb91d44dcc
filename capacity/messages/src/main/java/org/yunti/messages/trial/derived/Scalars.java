package org.yunti.messages.trial.derived;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.Year;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;

/** Coders of single values. */
final class Scalars {
  /** A whole number, a boolean or a constant. */
  record Whole(ToLongFunction<Object> to, LongFunction<Object> from) implements Coder {
    @Override
    public int wire() {
      return VARINT;
    }

    @Override
    public int size(Object value, Sizes sizes) {
      return CodedOutputStream.computeUInt64SizeNoTag(to.applyAsLong(value));
    }

    @Override
    public void write(Object value, CodedOutputStream out, Sizes sizes) throws IOException {
      out.writeUInt64NoTag(to.applyAsLong(value));
    }

    @Override
    public Object read(CodedInputStream in) throws IOException {
      return from.apply(in.readRawVarint64());
    }
  }

  /** A text, or a value with a text. */
  record Text(Function<Object, String> to, Function<String, Object> from) implements Coder {
    @Override
    public int wire() {
      return BYTES;
    }

    @Override
    public int size(Object value, Sizes sizes) {
      return CodedOutputStream.computeStringSizeNoTag(to.apply(value));
    }

    @Override
    public void write(Object value, CodedOutputStream out, Sizes sizes) throws IOException {
      out.writeStringNoTag(to.apply(value));
    }

    @Override
    public Object read(CodedInputStream in) throws IOException {
      return from.apply(in.readStringRequireUtf8());
    }
  }

  private static final Coder DOUBLE = new Coder() {
    @Override
    public int wire() {
      return FIXED64;
    }

    @Override
    public int size(Object value, Sizes sizes) {
      return 8;
    }

    @Override
    public void write(Object value, CodedOutputStream out, Sizes sizes) throws IOException {
      out.writeDoubleNoTag((Double) value);
    }

    @Override
    public Object read(CodedInputStream in) throws IOException {
      return in.readDouble();
    }
  };

  private static final Coder FLOAT = new Coder() {
    @Override
    public int wire() {
      return FIXED32;
    }

    @Override
    public int size(Object value, Sizes sizes) {
      return 4;
    }

    @Override
    public void write(Object value, CodedOutputStream out, Sizes sizes) throws IOException {
      out.writeFloatNoTag((Float) value);
    }

    @Override
    public Object read(CodedInputStream in) throws IOException {
      return in.readFloat();
    }
  };

  private static final Coder BYTE_ARRAY = new Coder() {
    @Override
    public int wire() {
      return BYTES;
    }

    @Override
    public int size(Object value, Sizes sizes) {
      return CodedOutputStream.computeByteArraySizeNoTag((byte[]) value);
    }

    @Override
    public void write(Object value, CodedOutputStream out, Sizes sizes) throws IOException {
      out.writeByteArrayNoTag((byte[]) value);
    }

    @Override
    public Object read(CodedInputStream in) throws IOException {
      return in.readByteArray();
    }
  };

  private static Coder text(Function<String, Object> from) {
    return new Text(Object::toString, from);
  }

  private static final Map<Class<?>, Coder> ALL = Map.ofEntries(
      Map.entry(String.class, new Text(it -> (String) it, it -> it)),
      Map.entry(Integer.class, new Whole(it -> (Integer) it, it -> (int) it)),
      Map.entry(Long.class, new Whole(it -> (Long) it, it -> it)),
      Map.entry(Short.class, new Whole(it -> (Short) it, it -> (short) it)),
      Map.entry(Byte.class, new Whole(it -> (Byte) it, it -> (byte) it)),
      Map.entry(Character.class, new Whole(it -> (Character) it, it -> (char) it)),
      Map.entry(Boolean.class, new Whole(it -> (Boolean) it ? 1 : 0, it -> it != 0)),
      Map.entry(LocalDate.class, new Whole(it -> ((LocalDate) it).toEpochDay(), LocalDate::ofEpochDay)),
      Map.entry(Date.class, new Whole(it -> ((Date) it).getTime(), Date::new)),
      Map.entry(Duration.class, text(Duration::parse)),
      Map.entry(Year.class, new Whole(it -> ((Year) it).getValue(), it -> Year.of((int) it))),
      Map.entry(java.time.Instant.class, text(java.time.Instant::parse)),
      Map.entry(LocalDateTime.class, text(LocalDateTime::parse)),
      Map.entry(OffsetDateTime.class, text(OffsetDateTime::parse)),
      Map.entry(ZonedDateTime.class, text(ZonedDateTime::parse)),
      Map.entry(BigDecimal.class, text(BigDecimal::new)),
      Map.entry(BigInteger.class, text(BigInteger::new)),
      Map.entry(UUID.class, text(UUID::fromString)),
      Map.entry(URI.class, text(URI::create)),
      Map.entry(byte[].class, BYTE_ARRAY),
      Map.entry(Double.class, DOUBLE),
      Map.entry(Float.class, FLOAT));

  private Scalars() {}

  /** Returns the coder of a class; null for a class that is no single value. */
  static Coder of(Class<?> type) {
    if (type.isEnum()) {
      Object[] constants = type.getEnumConstants();
      return new Whole(it -> ((Enum<?>) it).ordinal(), it -> constants[(int) it]);
    }
    return ALL.get(type);
  }
}
