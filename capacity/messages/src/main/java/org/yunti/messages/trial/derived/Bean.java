package org.yunti.messages.trial.derived;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.util.List;

/** An object as a message: a field for each of its fields, which is left out if it is null, 0 or false. */
final class Bean extends Coder.Delimited {
  private final Access access;
  private final Slot[] slots;

  /**
   * A field of the message.
   *
   * @param index number of the field of the class
   * @param tag number and wire type
   * @param tagSize bytes of the tag
   * @param isPrimitive true if a missing field is 0 or false
   */
  record Slot(int index, int tag, int tagSize, Coder coder, boolean isPrimitive) {}

  /** Fields are found later, because a class may refer to itself. */
  Bean(Access access) {
    this.access = access;
    this.slots = new Slot[access.count()];
  }

  void slots(List<Slot> all) {
    for (Slot slot : all) {
      slots[slot.index] = slot;
    }
  }

  @Override
  int body(Object it, Sizes sizes) {
    int size = 0;
    for (Slot slot : slots) {
      if (slot == null) {
        continue;
      }
      Object value = access.get(it, slot.index);
      if (isThere(slot, value)) {
        size += slot.tagSize + slot.coder.size(value, sizes);
      }
    }
    return size;
  }

  private static boolean isThere(Slot slot, Object value) {
    if (!slot.isPrimitive) {
      return value != null;
    }
    return value instanceof Boolean flag ? flag
        : value instanceof Character c ? c != 0
        : value instanceof Double d ? Double.doubleToRawLongBits(d) != 0
        : value instanceof Float f ? Float.floatToRawIntBits(f) != 0
        : ((Number) value).longValue() != 0;
  }

  @Override
  void writeBody(Object it, CodedOutputStream out, Sizes sizes) throws IOException {
    for (Slot slot : slots) {
      if (slot == null) {
        continue;
      }
      Object value = access.get(it, slot.index);
      if (isThere(slot, value)) {
        out.writeUInt32NoTag(slot.tag);
        slot.coder.write(value, out, sizes);
      }
    }
  }

  @Override
  Object readBody(CodedInputStream in) throws IOException {
    Object[] values = access.isByConstructor() ? access.zeros() : null;
    Object made = values == null ? access.allocate() : null;
    int tag;
    while ((tag = in.readTag()) != 0) {
      Slot slot = slots[(tag >>> 3) - 1];
      Object value = slot.coder.read(in);
      if (values == null) {
        access.set(made, slot.index, value);
      } else {
        values[slot.index] = value;
      }
    }
    return values == null ? made : access.construct(values);
  }
}
