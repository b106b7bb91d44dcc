package org.yunti.table;

import org.yunti.table.format.Dictionary;
import org.yunti.table.format.Source;
import org.yunti.table.memory.Memory;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Type;

/** One value at its place in the file: the same for columns, fields and elements. */
final class Values {
  private Values() {
  }

  static long integer(Memory memory, Type type, long at) {
    return type == Type.I64 ? memory.getLong(at) : narrow(memory, type, at);
  }

  private static long narrow(Memory memory, Type type, long at) {
    switch (type) {
      case BOOL:
      case U8:
        return memory.getByte(at) & 0xff;
      case I8:
        return memory.getByte(at);
      case I16:
        return memory.getShort(at);
      case U16:
        return memory.getShort(at) & 0xffff;
      case I32:
        return memory.getInt(at);
      case U32:
        return memory.getInt(at) & 0xffff_ffffL;
      case U64:
        return memory.getLong(at);
      default:
        throw new IllegalArgumentException("a value of the type " + type + " is no integer");
    }
  }

  static double real(Memory memory, Type type, long at) {
    if (type == Type.F64) {
      return Double.longBitsToDouble(memory.getLong(at));
    }
    if (type == Type.F32) {
      return Float.intBitsToFloat(memory.getInt(at));
    }
    throw new IllegalArgumentException("a value of the type " + type + " is no floating-point number");
  }

  static String text(Source source, Column column, long begin, long end) {
    if (column.type() == Type.DICT) {
      return source.dictionary(column).text(source.memory.getInt(begin));
    }
    require(column, Type.UTF8);
    return Dictionary.text(source.memory, begin, end);
  }

  /** Returns the bytes of a text, of a text in a dictionary, or of a value of the type bytes. */
  static byte[] bytes(Source source, Column column, long begin, long end) {
    if (column.type() == Type.DICT) {
      Dictionary dictionary = source.dictionary(column);
      int number = source.memory.getInt(begin);
      long textEnd = dictionary.end(number);
      return copy(source, dictionary.begin(number), textEnd);
    }
    requireBytes(column);
    return copy(source, begin, end);
  }

  private static byte[] copy(Source source, long begin, long end) {
    byte[] bytes = new byte[Math.toIntExact(end - begin)];
    source.memory.copy(begin, bytes, 0, bytes.length);
    return bytes;
  }

  static void requireBytes(Column column) {
    if (column.type() != Type.UTF8 && column.type() != Type.BYTES) {
      throw new IllegalArgumentException(column + " has no bytes");
    }
  }

  static void require(Column column, Type type) {
    if (column.type() != type) {
      throw new IllegalArgumentException(column + " is no " + type);
    }
  }

  static Row record(Source source, Column column, long begin, long end) {
    require(column, Type.RECORD);
    Row row = new Row(source, column.fields());
    row.move(begin, end);
    return row;
  }

  static Elements list(Source source, Column column, long begin, long end) {
    require(column, Type.LIST);
    return new Elements(source, column.element(), begin, end);
  }

  /** Returns any value: Boolean, Long, Double, Float, String, byte[], Row or Elements. */
  static Object object(Source source, Column column, long begin, long end) {
    switch (column.type()) {
      case BOOL:
        return source.memory.getByte(begin) != 0;
      case F32:
        return (float) real(source.memory, Type.F32, begin);
      case F64:
        return real(source.memory, Type.F64, begin);
      case UTF8:
      case DICT:
        return text(source, column, begin, end);
      case BYTES:
        return bytes(source, column, begin, end);
      case RECORD:
        return record(source, column, begin, end);
      case LIST:
        return list(source, column, begin, end);
      default:
        return integer(source.memory, column.type(), begin);
    }
  }
}
