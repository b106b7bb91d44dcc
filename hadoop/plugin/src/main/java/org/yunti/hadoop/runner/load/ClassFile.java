package org.yunti.hadoop.runner.load;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Names and declarations in a compiled class: Java Virtual Machine Specification, chapter 4. Code is not read; the
 * methods that it calls stand in the constant pool.
 */
final class ClassFile {
  private static final int MAGIC = 0xCAFEBABE;
  private static final int UTF8 = 1;
  private static final int INTEGER = 3;
  private static final int FLOAT = 4;
  private static final int LONG = 5;
  private static final int DOUBLE = 6;
  private static final int CLASS = 7;
  private static final int STRING = 8;
  private static final int FIELD = 9;
  private static final int METHOD = 10;
  private static final int INTERFACE_METHOD = 11;
  private static final int NAME_AND_TYPE = 12;
  private static final int METHOD_HANDLE = 15;
  private static final int METHOD_TYPE = 16;
  private static final int DYNAMIC = 17;
  private static final int INVOKE_DYNAMIC = 18;
  private static final int MODULE = 19;
  private static final int PACKAGE = 20;

  static final int STATIC = 0x0008;
  static final int FINAL = 0x0010;
  static final int NATIVE = 0x0100;
  static final int SYNTHETIC = 0x1000;

  /** A field or a method. */
  static final class Member {
    final int flags;
    final String name;
    final String type;

    Member(int flags, String name, String type) {
      this.flags = flags;
      this.name = name;
      this.type = type;
    }
  }

  private final byte[] bytes;
  private final int count;
  private final int poolEnd;
  private final int[] tags;
  private final int[] first;
  private final int[] second;
  private final int[] places;
  private final String[] texts;
  /** Constants of the superclass, 0 if there is none, and of the interfaces. */
  private final List<Integer> parents = new ArrayList<>();
  private final List<Member> fields = new ArrayList<>();
  private final List<Member> methods = new ArrayList<>();

  /** @throws IOException if the bytes are no class that this code knows */
  ClassFile(byte[] bytes) throws IOException {
    this.bytes = bytes;
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    if (in.readInt() != MAGIC) {
      throw new IOException("no class file");
    }
    in.readInt(); // Version.
    count = in.readUnsignedShort();
    tags = new int[count];
    first = new int[count];
    second = new int[count];
    places = new int[count];
    texts = new String[count];
    for (int i = 1; i < count; i++) {
      places[i] = bytes.length - in.available();
      tags[i] = in.readUnsignedByte();
      readConstant(in, i);
      if (tags[i] == LONG || tags[i] == DOUBLE) {
        i++; // These have two numbers.
      }
    }
    poolEnd = bytes.length - in.available();
    in.readUnsignedShort(); // Flags.
    in.readUnsignedShort(); // This class.
    parents.add(in.readUnsignedShort());
    for (int left = in.readUnsignedShort(); left > 0; left--) {
      parents.add(in.readUnsignedShort());
    }
    readMembers(in, fields);
    readMembers(in, methods);
  }

  private void readConstant(DataInputStream in, int i) throws IOException {
    switch (tags[i]) {
      case UTF8:
        texts[i] = in.readUTF();
        break;
      case INTEGER:
      case FLOAT:
        in.readInt();
        break;
      case LONG:
      case DOUBLE:
        in.readLong();
        break;
      case CLASS:
      case STRING:
      case METHOD_TYPE:
      case MODULE:
      case PACKAGE:
        first[i] = in.readUnsignedShort();
        break;
      case FIELD:
      case METHOD:
      case INTERFACE_METHOD:
      case NAME_AND_TYPE:
      case DYNAMIC:
      case INVOKE_DYNAMIC:
        first[i] = in.readUnsignedShort();
        second[i] = in.readUnsignedShort();
        break;
      case METHOD_HANDLE:
        in.readUnsignedByte();
        first[i] = in.readUnsignedShort();
        break;
      default:
        throw new IOException("unknown constant " + tags[i]);
    }
  }

  private void readMembers(DataInputStream in, List<Member> to) throws IOException {
    for (int left = in.readUnsignedShort(); left > 0; left--) {
      int flags = in.readUnsignedShort();
      to.add(new Member(flags, texts[in.readUnsignedShort()], texts[in.readUnsignedShort()]));
      for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
        in.readUnsignedShort();
        skip(in, in.readInt() & 0xFFFFFFFFL);
      }
    }
  }

  private static void skip(DataInputStream in, long length) throws IOException {
    for (long left = length; left > 0;) {
      int skipped = in.skipBytes((int) Math.min(left, Integer.MAX_VALUE));
      if (skipped == 0) {
        throw new IOException("the class file is cut off");
      }
      left -= skipped;
    }
  }

  List<Member> fields() {
    return fields;
  }

  List<Member> methods() {
    return methods;
  }

  /**
   * Returns the classes whose code this one can run: its parents, and the owners of the fields and methods that it
   * uses. Classes that are only named, such as neighbours inside the same class, are left out.
   */
  Set<String> classes() {
    Set<String> found = new LinkedHashSet<>();
    for (int parent : parents) {
      add(parent, found);
    }
    for (int i = 1; i < count; i++) {
      if (tags[i] == FIELD || tags[i] == METHOD || tags[i] == INTERFACE_METHOD) {
        add(first[i], found);
      }
    }
    return found;
  }

  private void add(int constant, Set<String> to) {
    if (constant != 0 && !texts[first[constant]].startsWith("[")) {
      to.add(texts[first[constant]].replace('/', '.'));
    }
  }

  /** Returns true if the class calls a method, or refers to it. */
  boolean calls(String owner, String name) {
    return reference(owner, name) != 0;
  }

  private int reference(String owner, String name) {
    for (int i = 1; i < count; i++) {
      if (tags[i] == METHOD && texts[first[first[i]]].equals(owner) && texts[first[second[i]]].equals(name)) {
        return i;
      }
    }
    return 0;
  }

  /**
   * Returns the class with all calls of a static method made to a method of the same name and type in another class.
   * Two constants are added: the name of the other class, and the class.
   */
  byte[] redirect(String owner, String name, String other) {
    int reference = reference(owner, name);
    if (reference == 0) {
      return bytes;
    }
    byte[] utf = other.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    byte[] result = new byte[bytes.length + 3 + utf.length + 3];
    System.arraycopy(bytes, 0, result, 0, poolEnd);
    int at = poolEnd;
    result[at++] = UTF8;
    at = putShort(result, at, utf.length);
    System.arraycopy(utf, 0, result, at, utf.length);
    at += utf.length;
    result[at++] = CLASS;
    at = putShort(result, at, count);
    System.arraycopy(bytes, poolEnd, result, at, bytes.length - poolEnd);
    putShort(result, 8, count + 2);
    for (int i = reference; i < count; i++) {
      if (tags[i] == METHOD && texts[first[first[i]]].equals(owner) && texts[first[second[i]]].equals(name)) {
        putShort(result, places[i] + 1, count + 1);
      }
    }
    return result;
  }

  private static int putShort(byte[] to, int at, int value) {
    to[at] = (byte) (value >> 8);
    to[at + 1] = (byte) value;
    return at + 2;
  }
}
