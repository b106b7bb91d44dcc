package org.yunti.messages.trial.derived;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;

/**
 * Writes and reads one value of a derived protobuf message, without its tag.
 *
 * <p>Lengths of messages come before their bytes. So {@link #size} runs first over the whole message, and leaves the
 * lengths in {@link Sizes} in the order in which {@link #write} needs them.
 */
interface Coder {
  int VARINT = 0;
  int FIXED64 = 1;
  int BYTES = 2;
  int FIXED32 = 5;

  /** Returns the wire type. */
  int wire();

  int size(Object value, Sizes sizes);

  void write(Object value, CodedOutputStream out, Sizes sizes) throws IOException;

  Object read(CodedInputStream in) throws IOException;

  /** Lengths of the messages inside a message. */
  final class Sizes {
    private int[] lengths = new int[64];
    private int count;
    private int at;

    void clear() {
      count = 0;
      at = 0;
    }

    /** Keeps a place for a length that is known later. */
    int reserve() {
      if (count == lengths.length) {
        lengths = java.util.Arrays.copyOf(lengths, count * 2);
      }
      return count++;
    }

    void set(int place, int length) {
      lengths[place] = length;
    }

    int next() {
      return lengths[at++];
    }
  }

  /** A part of a message that is a message itself, or a list: its length is written first. */
  abstract class Delimited implements Coder {
    @Override
    public final int wire() {
      return BYTES;
    }

    @Override
    public final int size(Object value, Sizes sizes) {
      int place = sizes.reserve();
      int length = body(value, sizes);
      sizes.set(place, length);
      return CodedOutputStream.computeUInt32SizeNoTag(length) + length;
    }

    @Override
    public final void write(Object value, CodedOutputStream out, Sizes sizes) throws IOException {
      out.writeUInt32NoTag(sizes.next());
      writeBody(value, out, sizes);
    }

    @Override
    public final Object read(CodedInputStream in) throws IOException {
      int limit = in.pushLimit(in.readRawVarint32());
      Object value = readBody(in);
      in.checkLastTagWas(0);
      in.popLimit(limit);
      return value;
    }

    abstract int body(Object value, Sizes sizes);

    abstract void writeBody(Object value, CodedOutputStream out, Sizes sizes) throws IOException;

    /** Reads to the end of the limit. */
    abstract Object readBody(CodedInputStream in) throws IOException;
  }
}
