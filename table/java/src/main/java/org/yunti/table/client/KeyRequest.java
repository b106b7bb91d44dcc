package org.yunti.table.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.yunti.table.TableException;
import org.yunti.table.client.wire.Connection;
import org.yunti.table.format.KeyHash;

/**
 * A request for the rows of some keys of one shard, whole but for its number and handle.
 *
 * <pre>
 *   head 9 | handle 4 | flags 1 | number of keys 4 | length of a key, LEB128 | its bytes | ..
 * </pre>
 */
final class KeyRequest {
  private static final int HANDLE_AT = Connection.HEAD_BYTES;
  private static final int FLAGS_AT = HANDLE_AT + 4;
  private static final int COUNT_AT = FLAGS_AT + 1;
  private static final int KEYS_AT = COUNT_AT + 4;
  private static final int LENGTH_BYTES_MAX = 5;
  private static final int KEYS_MAX = 1024;
  /** Bytes of a request with several keys, at most. */
  static final int BYTES_MAX = 1 << 16;
  private static final int FRAME_BYTES_MAX = 1 << 24;
  private static final int FIRST_BYTES = 64;

  /** Shard of the keys, from 0, and number of shards. */
  final int shard;
  final int shards;
  final boolean isAll;
  private byte[] frame = new byte[FIRST_BYTES];
  private int length = KEYS_AT;
  private int count;
  /** Numbers of the keys in the batch. */
  private int[] numbers = new int[1];

  private KeyRequest(int shard, int shards, boolean isAll) {
    this.shard = shard;
    this.shards = shards;
    this.isAll = isAll;
    frame[HANDLE_AT - 1] = Connection.GET;
    frame[FLAGS_AT] = (byte) (isAll ? 1 : 0);
  }

  int bytes() {
    return length;
  }

  int count() {
    return count;
  }

  /** Returns the number of a key in the batch. */
  int number(int i) {
    return numbers[i];
  }

  private boolean hasRoom(int bytes) {
    return count == 0 || count < KEYS_MAX && length + LENGTH_BYTES_MAX + bytes <= BYTES_MAX;
  }

  private void add(int number, byte[] key, int offset, int bytes) {
    if (bytes > FRAME_BYTES_MAX - KEYS_AT - LENGTH_BYTES_MAX) {
      throw new TableException("a key of " + bytes + " bytes does not fit a request; shorten it");
    }
    int needed = length + LENGTH_BYTES_MAX + bytes;
    if (frame.length < needed) {
      frame = Arrays.copyOf(frame, Math.max(2 * frame.length, needed));
    }
    if (numbers.length == count) {
      numbers = Arrays.copyOf(numbers, 2 * count);
    }
    numbers[count++] = number;
    for (int rest = bytes; ; rest >>>= 7) {
      frame[length++] = (byte) (rest < 0x80 ? rest : rest & 0x7f | 0x80);
      if (rest < 0x80) {
        break;
      }
    }
    System.arraycopy(key, offset, frame, length, bytes);
    length += bytes;
  }

  void send(Connection connection, int handle) throws java.io.IOException {
    Connection.writeInt(frame, HANDLE_AT, handle);
    Connection.writeInt(frame, COUNT_AT, count);
    connection.send(frame, length);
  }

  /** Returns two requests for half of the keys each. */
  KeyRequest[] halves() {
    KeyRequest[] halves = {new KeyRequest(shard, shards, isAll), new KeyRequest(shard, shards, isAll)};
    int at = KEYS_AT;
    for (int i = 0; i < count; i++) {
      int bytes = 0;
      for (int shift = 0; ; shift += 7) {
        byte part = frame[at++];
        bytes |= (part & 0x7f) << shift;
        if (part >= 0) {
          break;
        }
      }
      halves[i < count / 2 ? 0 : 1].add(numbers[i], frame, at, bytes);
      at += bytes;
    }
    return halves;
  }

  /** Returns the shard of a key, from 0. */
  static int shard(byte[] key, int offset, int bytes, int shards) {
    return shards == 1 ? 0 : KeyHash.shard(key, offset, bytes, shards);
  }

  /** The requests of a lookup: keys of a shard together, as many as a request may have. */
  static final class Builder {
    private final int shards;
    private final boolean isAll;
    private final List<KeyRequest> requests = new ArrayList<>();
    private final Map<Integer, KeyRequest> last = new HashMap<>();

    Builder(int shards, boolean isAll) {
      this.shards = shards;
      this.isAll = isAll;
    }

    void add(int number, byte[] key, int offset, int bytes) {
      int shard = shard(key, offset, bytes, shards);
      KeyRequest request = last.get(shard);
      if (request == null || !request.hasRoom(bytes)) {
        request = new KeyRequest(shard, shards, isAll);
        requests.add(request);
        last.put(shard, request);
      }
      request.add(number, key, offset, bytes);
    }

    List<KeyRequest> requests() {
      return requests;
    }
  }
}
