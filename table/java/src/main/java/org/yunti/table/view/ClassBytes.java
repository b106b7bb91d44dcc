package org.yunti.table.view;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A class file of Java 8 whose methods have no branches, so that it needs no stack maps. A library that writes any
 * class would be larger than this reader.
 */
final class ClassBytes {
  static final int PUBLIC = 1;
  static final int ALOAD_0 = 0x2a;
  static final int ALOAD_1 = 0x2b;
  static final int DUP = 0x59;
  static final int I2L = 0x85;
  static final int F2D = 0x8d;
  static final int IRETURN = 0xac;
  static final int LRETURN = 0xad;
  static final int FRETURN = 0xae;
  static final int DRETURN = 0xaf;
  static final int ARETURN = 0xb0;
  static final int RETURN = 0xb1;

  private static final int VERSION = 52;
  private static final int FLAGS_SUPER = 0x20;
  private static final int FLAGS_FINAL = 0x10;
  private static final int FLAGS_SYNTHETIC = 0x1000;
  private static final int INTEGER = 3;
  private static final int CLASS = 7;
  private static final int METHOD = 10;
  private static final int NAME_AND_TYPE = 12;
  /** Stack and variables of the largest method here. */
  private static final int STACK = 4;

  private final Map<String, Integer> numbers = new LinkedHashMap<>();
  private final ByteArrayOutputStream constantBytes = new ByteArrayOutputStream();
  private final DataOutputStream constants = new DataOutputStream(constantBytes);
  private final ByteArrayOutputStream methodBytes = new ByteArrayOutputStream();
  private final DataOutputStream methods = new DataOutputStream(methodBytes);
  private final ByteArrayOutputStream codeBytes = new ByteArrayOutputStream();
  private final DataOutputStream code = new DataOutputStream(codeBytes);
  private int methodCount;

  private interface Body {
    void write() throws IOException;
  }

  private int constant(String id, Body body) {
    Integer known = numbers.get(id);
    if (known == null) {
      write(body);
      known = numbers.size() + 1;
      numbers.put(id, known);
    }
    return known;
  }

  private static void write(Body body) {
    try {
      body.write();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private int utf8(String text) {
    return constant("u" + text, () -> {
      constants.writeByte(1);
      constants.writeUTF(text);
    });
  }

  private int pair(String id, int tag, int first, int second) {
    return constant(id, () -> {
      constants.writeByte(tag);
      constants.writeShort(first);
      constants.writeShort(second);
    });
  }

  private int type(String name) {
    int utf8 = utf8(name);
    return constant("c" + name, () -> {
      constants.writeByte(CLASS);
      constants.writeShort(utf8);
    });
  }

  private int method(String owner, String name, String descriptor) {
    int nameAndType = pair("n" + name + descriptor, NAME_AND_TYPE, utf8(name), utf8(descriptor));
    return pair("m" + owner + "." + name + descriptor, METHOD, type(owner), nameAndType);
  }

  void op(int op) {
    write(() -> code.writeByte(op));
  }

  private void op(int op, int constant) {
    write(() -> {
      code.writeByte(op);
      code.writeShort(constant);
    });
  }

  void push(int number) {
    op(0x13, constant("i" + number, () -> {
      constants.writeByte(INTEGER);
      constants.writeInt(number);
    }));
  }

  void create(String type) {
    op(0xbb, type(type));
  }

  void cast(String type) {
    op(0xc0, type(type));
  }

  void call(String owner, String name, String descriptor) {
    op(name.equals("<init>") ? 0xb7 : 0xb6, method(owner, name, descriptor));
  }

  /** Ends a method whose code was written by the methods above. */
  void end(int flags, String name, String descriptor) {
    int nameAt = utf8(name);
    int descriptorAt = utf8(descriptor);
    int codeAt = utf8("Code");
    write(() -> {
      methods.writeShort(flags);
      methods.writeShort(nameAt);
      methods.writeShort(descriptorAt);
      methods.writeShort(1);
      methods.writeShort(codeAt);
      methods.writeInt(12 + codeBytes.size());
      methods.writeShort(STACK);
      methods.writeShort(STACK);
      methods.writeInt(codeBytes.size());
      codeBytes.writeTo(methods);
      methods.writeShort(0);
      methods.writeShort(0);
    });
    codeBytes.reset();
    methodCount++;
  }

  byte[] toBytes(String name, String superName, String interfaceName) {
    int self = type(name);
    int parent = type(superName);
    int implemented = type(interfaceName);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(all);
    write(() -> {
      out.writeInt(0xCAFEBABE);
      out.writeInt(VERSION);
      out.writeShort(numbers.size() + 1);
      constantBytes.writeTo(out);
      out.writeShort(PUBLIC | FLAGS_FINAL | FLAGS_SUPER | FLAGS_SYNTHETIC);
      out.writeShort(self);
      out.writeShort(parent);
      out.writeShort(1);
      out.writeShort(implemented);
      out.writeShort(0);
      out.writeShort(methodCount);
      methodBytes.writeTo(out);
      out.writeShort(0);
    });
    return all.toByteArray();
  }
}
