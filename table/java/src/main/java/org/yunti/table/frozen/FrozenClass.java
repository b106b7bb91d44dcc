package org.yunti.table.frozen;

import java.util.HashSet;
import java.util.Set;

import org.yunti.table.TableException;

/** A class of records or enums, as the file describes it. */
final class FrozenClass {
  final String name;
  final boolean isRecord;
  final Set<String> interfaces = new HashSet<>();
  String[] components = {};
  int[] kinds = {};
  /** Offset of each component behind the class number. */
  int[] offsets = {};

  private FrozenClass(String name, boolean isRecord) {
    this.name = name;
    this.isRecord = isRecord;
  }

  /** Returns the number of a component, or -1. */
  int component(String of) {
    for (int i = 0; i < components.length; i++) {
      if (components[i].equals(of)) {
        return i;
      }
    }
    return -1;
  }

  /** Reads the part {@code classes}. */
  static FrozenClass[] read(byte[] bytes, String path) {
    Input in = new Input(bytes, path);
    FrozenClass[] all = new FrozenClass[in.count()];
    for (int i = 0; i < all.length; i++) {
      int tag = in.next();
      FrozenClass of = new FrozenClass(in.text(), tag == Tag.RECORD);
      all[i] = of;
      if (!of.isRecord) {
        continue;
      }
      for (int n = in.count(); n > 0; n--) {
        of.interfaces.add(in.text());
      }
      of.components = new String[in.count()];
      of.kinds = new int[of.components.length];
      of.offsets = new int[of.components.length];
      int at = 0;
      for (int n = 0; n < of.components.length; n++) {
        of.kinds[n] = in.next();
        if (of.kinds[n] > Tag.DOUBLE) {
          throw in.damaged();
        }
        of.components[n] = in.text();
        of.offsets[n] = at;
        at += Tag.width(of.kinds[n]);
      }
    }
    return all;
  }

  /** Bytes from begin to end. */
  private static final class Input {
    private final byte[] bytes;
    private final String path;
    private int at;

    Input(byte[] bytes, String path) {
      this.bytes = bytes;
      this.path = path;
    }

    TableException damaged() {
      return new TableException(path + ": the classes of its objects are damaged; write it again");
    }

    int next() {
      if (at == bytes.length) {
        throw damaged();
      }
      return bytes[at++] & 0xff;
    }

    /** Reads a number of things, each of which has a byte at least. */
    int count() {
      int count = 0;
      int shift = 0;
      int part;
      do {
        part = next();
        count |= (part & 0x7f) << shift;
        shift += 7;
      } while (part >= 0x80 && shift < 35);
      if (count < 0 || count > bytes.length - at) {
        throw damaged();
      }
      return count;
    }

    String text() {
      int length = count();
      at += length;
      return new String(bytes, at - length, length, java.nio.charset.StandardCharsets.UTF_8);
    }
  }
}
