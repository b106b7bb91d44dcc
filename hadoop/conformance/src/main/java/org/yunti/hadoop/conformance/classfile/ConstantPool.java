package org.yunti.hadoop.conformance.classfile;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Constant pool of a class file (Java Virtual Machine Specification, section 4.4): the table of the names that the
 * class refers to.
 *
 * <pre>
 *   | magic: u4 | version: u4 | count: u2 | tag: u1, content | tag: u1, content | ... | the rest of the class
 * </pre>
 */
public final class ConstantPool {
  private static final int HEADER_BYTES = 8;

  private static final int UTF8 = 1;
  private static final int LONG = 5;
  private static final int DOUBLE = 6;
  private static final int CLASS = 7;
  private static final int FIELD = 9;
  private static final int INTERFACE_METHOD = 11;
  private static final int METHOD_HANDLE = 15;

  private final byte[] file;
  private final int count;
  private final int end;
  /** Tag, or 0 for the unused entry after a long or a double. */
  private final int[] tags;
  /** Offset of the content after the tag. */
  private final int[] offsets;

  /** Method or field that a class refers to; the owner is a name with slashes. */
  public record Member(String owner, String name, String descriptor, boolean isField) {}

  public ConstantPool(byte[] file) throws IOException {
    this.file = file;
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(file));
    in.skipBytes(HEADER_BYTES);
    count = in.readUnsignedShort();
    tags = new int[count];
    offsets = new int[count];
    for (int i = 1; i < count; i++) {
      tags[i] = in.readUnsignedByte();
      offsets[i] = file.length - in.available();
      in.skipBytes(bytes(tags[i], offsets[i]));
      if (tags[i] == LONG || tags[i] == DOUBLE) {
        i++;
      }
    }
    end = file.length - in.available();
  }

  private int bytes(int tag, int offset) {
    return switch (tag) {
      case UTF8 -> 2 + unsigned(offset);
      case LONG, DOUBLE -> 8;
      case METHOD_HANDLE -> 3;
      case CLASS, 8, 16, 19, 20 -> 2;
      default -> 4;
    };
  }

  private int unsigned(int offset) {
    return (file[offset] & 0xff) << 8 | file[offset + 1] & 0xff;
  }

  private String text(int index) {
    try {
      return new DataInputStream(new ByteArrayInputStream(file, offsets[index], file.length - offsets[index])).readUTF();
    } catch (IOException e) {
      throw new IllegalArgumentException("no text at entry " + index, e);
    }
  }

  /** Returns the name in an entry of a class. */
  private String className(int index) {
    return text(unsigned(offsets[index]));
  }

  private Member member(int index) {
    int nameAndType = offsets[unsigned(offsets[index] + 2)];
    return new Member(className(unsigned(offsets[index])), text(unsigned(nameAndType)), text(unsigned(nameAndType + 2)),
        tags[index] == FIELD);
  }

  private boolean isMember(int index) {
    return tags[index] >= FIELD && tags[index] <= INTERFACE_METHOD;
  }

  /** Returns the methods and fields that the class refers to. */
  public List<Member> members() {
    List<Member> members = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      if (isMember(i)) {
        members.add(member(i));
      }
    }
    return members;
  }

  /** Returns the names of the classes that the class refers to, with slashes; arrays as descriptors. */
  public List<String> classes() {
    List<String> classes = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      if (tags[i] == CLASS) {
        classes.add(className(i));
      }
    }
    return classes;
  }

  /** Returns the class file with {@code owner} in the place of the class of all references to {@code from}. */
  public byte[] withOwner(Member from, String owner) throws IOException {
    List<Integer> found = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      if (isMember(i) && member(i).equals(from)) {
        found.add(i);
      }
    }
    if (found.isEmpty()) {
      return file;
    }
    // Two entries more: the name of the new owner, and its class.
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(file, 0, HEADER_BYTES);
    out.writeShort(count + 2);
    int start = bytes.size();
    out.write(file, start, end - start);
    out.writeByte(UTF8);
    out.writeUTF(owner);
    out.writeByte(CLASS);
    out.writeShort(count);
    out.write(file, end, file.length - end);
    byte[] changed = bytes.toByteArray();
    for (int i : found) {
      changed[offsets[i]] = (byte) (count + 1 >> 8);
      changed[offsets[i] + 1] = (byte) (count + 1);
    }
    return changed;
  }
}
