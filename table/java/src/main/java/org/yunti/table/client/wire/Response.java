package org.yunti.table.client.wire;

import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;

import org.yunti.table.TableException;
import org.yunti.table.format.Dictionary;
import org.yunti.table.format.Source;
import org.yunti.table.memory.ArrayMemory;
import org.yunti.table.memory.HeapBytes;
import org.yunti.table.schema.Column;

/**
 * One response of a server, read from its begin to its end; rows are read where they are in it.
 *
 * <pre>
 *   0                 4    5
 *   number of request | kind | rest
 * </pre>
 */
public final class Response extends Source {
  static final int HEAD_BYTES = 5;
  private static final int LENGTH_BYTES_MAX = 5;

  private final byte[] bytes;
  private final Address server;
  private int at = HEAD_BYTES;

  Response(byte[] bytes, Address server) {
    super(new ArrayMemory("response of " + server, bytes));
    this.bytes = bytes;
    this.server = server;
  }

  int requestNumber() {
    return HeapBytes.getInt(bytes, 0);
  }

  int kind() {
    return bytes[4];
  }

  byte[] bytes() {
    return bytes;
  }

  /** Returns where the next read begins. */
  public int at() {
    return at;
  }

  private int take(int count) throws ProtocolException {
    if (count > bytes.length - at) {
      throw new ProtocolException("its response is cut");
    }
    at += count;
    return at - count;
  }

  int readShort() throws ProtocolException {
    int from = take(2);
    return bytes[from] & 0xff | (bytes[from + 1] & 0xff) << 8;
  }

  int readByte() throws ProtocolException {
    return bytes[take(1)] & 0xff;
  }

  int readInt() throws ProtocolException {
    return HeapBytes.getInt(bytes, take(4));
  }

  long readLong() throws ProtocolException {
    return HeapBytes.getLong(bytes, take(8));
  }

  String readString() throws ProtocolException {
    int length = readShort();
    return new String(bytes, take(length), length, StandardCharsets.UTF_8);
  }

  /** Reads all bytes that are left as text. */
  String readRest() {
    int from = at;
    at = bytes.length;
    return new String(bytes, from, at - from, StandardCharsets.UTF_8);
  }

  /** Reads a number in LEB128. */
  public long readLength() throws ProtocolException {
    long length = 0;
    for (int i = 0; i < LENGTH_BYTES_MAX; i++) {
      byte part = bytes[take(1)];
      length |= (part & 0x7fL) << 7 * i;
      if (part >= 0) {
        return length;
      }
    }
    throw new ProtocolException("a length in its response does not end");
  }

  /** Passes the bytes of a row, and returns where they begin. */
  public int skip(long count) throws ProtocolException {
    return take((int) Math.min(count, Integer.MAX_VALUE));
  }

  /** Throws ProtocolException if bytes are left. */
  public void requireEnd() throws ProtocolException {
    if (at != bytes.length) {
      throw new ProtocolException("its response has " + (bytes.length - at) + " bytes more than it may have");
    }
  }

  @Override
  public Dictionary dictionary(Column column) {
    throw damaged("a dict is no column of a response");
  }

  @Override
  public TableException damaged(String what) {
    return new TableException("the server " + server + " sent a wrong response: " + what
        + "; check that it is a table server of this version");
  }
}
