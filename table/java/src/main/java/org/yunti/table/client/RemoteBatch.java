package org.yunti.table.client;

import org.yunti.table.Batch;
import org.yunti.table.Cells;
import org.yunti.table.Key;

/** Lookups of many keys at servers: each shard gets its keys in requests of at most 1,024. */
final class RemoteBatch extends Batch {
  private final TableClient table;
  private final byte[] number = new byte[8];
  private final Key key;
  private Found found;
  private int size;

  RemoteBatch(TableClient table) {
    this.table = table;
    key = table.key();
    found = table.found(0);
  }

  @Override
  public int find(long[] keys, int from, int count) {
    table.requireInteger();
    KeyRequest.Builder requests = table.requests();
    for (int i = 0; i < count; i++) {
      if (table.fits(keys[from + i])) {
        TableClient.writeKey(number, keys[from + i]);
        requests.add(i, number, 0, number.length);
      }
    }
    return run(requests, count);
  }

  @Override
  public int find(String[] keys, int from, int count) {
    table.requireBytes();
    KeyRequest.Builder requests = table.requests();
    for (int i = 0; i < count; i++) {
      add(requests, i, key.clear().add(keys[from + i]));
    }
    return run(requests, count);
  }

  @Override
  public int find(Object[][] keys, int from, int count) {
    KeyRequest.Builder requests = table.requests();
    for (int i = 0; i < count; i++) {
      add(requests, i, TableClient.filled(key, keys[from + i]));
    }
    return run(requests, count);
  }

  private static void add(KeyRequest.Builder requests, int i, Key key) {
    if (TableClient.canBe(key)) {
      requests.add(i, TableClient.keyBytes(key), 0, TableClient.keyLength(key));
    }
  }

  private int run(KeyRequest.Builder requests, int count) {
    size = 0;
    found = table.run(requests, count);
    size = count;
    int rows = 0;
    for (int i = 0; i < count; i++) {
      rows += found.responses[i] == null ? 0 : 1;
    }
    return rows;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public boolean has(int i) {
    return i < size && found.responses[i] != null;
  }

  @Override
  public boolean move(int i, Cells row) {
    table.requireOwn(row);
    if (!has(i)) {
      return false;
    }
    table.moveTo(found.responses[i], found.begins[i], found.ends[i], row);
    return true;
  }
}
