package org.yunti.table.written;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/** A writer of tables for tests, in memory and without haste: docs/formats/ytab.md from begin to end. */
public final class TableWriter {
  private static final byte[] MAGIC = {0x59, 0x54, 0x41, 0x42, (byte) 0x89, 0x0D, 0x0A, 0x1A};

  private final List<Spec> columns;
  private final List<Integer> key = new ArrayList<>();
  private final Map<Integer, Map<String, Integer>> dictionaries = new LinkedHashMap<>();
  private final List<Entry> entries = new ArrayList<>();
  private final Map<String, Entry> byKey = new LinkedHashMap<>();
  private boolean several;
  private boolean sorted;
  private int partSlots = 1 << 12;

  /** A key with its rows. */
  private static final class Entry {
    byte[] keyBytes;
    Object[] keyValues;
    final List<byte[]> rows = new ArrayList<>(1);
    long hash;
    int slot;
  }

  public TableWriter(String columns, String... key) {
    this.columns = Spec.parse(columns);
    for (String name : key) {
      for (int i = 0; i < this.columns.size(); i++) {
        if (this.columns.get(i).name.equals(name)) {
          this.key.add(i);
        }
      }
    }
    for (int i = 0; i < this.columns.size(); i++) {
      if (this.columns.get(i).type().equals("dict")) {
        dictionaries.put(i, new LinkedHashMap<>());
      }
    }
  }

  public List<Spec> columns() {
    return columns;
  }

  public TableWriter several() {
    several = true;
    return this;
  }

  public TableWriter sorted() {
    sorted = true;
    return this;
  }

  public TableWriter partSlots(int slots) {
    partSlots = slots;
    return this;
  }

  /** Adds a row. A second one of a key is one more, if keys may have several, or takes the place of the first. */
  public TableWriter add(Object... values) {
    Object[] encoded = values.clone();
    dictionaries.forEach((column, texts) -> {
      if (values[column] != null) {
        texts.putIfAbsent((String) values[column], texts.size());
        encoded[column] = texts.get(values[column]);
      }
    });
    Entry entry = new Entry();
    entry.keyValues = key.stream().map(i -> values[i]).toArray();
    entry.keyBytes = keyBytes(entry.keyValues);
    Entry first = byKey.putIfAbsent(new String(entry.keyBytes, StandardCharsets.ISO_8859_1), entry);
    if (first == null) {
      entries.add(entry);
      first = entry;
    } else if (!several) {
      first.rows.clear();
    }
    first.rows.add(Spec.Row.of(columns, encoded));
    return this;
  }

  private byte[] keyBytes(Object[] values) {
    return keyBytes(key.stream().map(columns::get).toList(), values);
  }

  /** Returns the bytes of a key: ytab.md, "Lookup". */
  static byte[] keyBytes(List<Spec> key, Object[] values) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < values.length; i++) {
      Spec column = key.get(i);
      if (column.isInteger()) {
        Spec.Row.number(out, values[i] instanceof Boolean is ? (is ? 1 : 0) : ((Number) values[i]).longValue(), 8);
      } else {
        byte[] value = column.value(values[i]);
        if (i < values.length - 1) {
          Spec.Row.number(out, value.length, 4);
        }
        out.writeBytes(value);
      }
    }
    return out.toByteArray();
  }

  private int order(Entry a, Entry b) {
    for (int i = 0; i < key.size(); i++) {
      Spec column = columns.get(key.get(i));
      Object x = a.keyValues[i];
      Object y = b.keyValues[i];
      int order;
      if (x instanceof Boolean is) {
        order = is.compareTo((Boolean) y);
      } else if (column.isInteger()) {
        long m = ((Number) x).longValue();
        long n = ((Number) y).longValue();
        order = column.isSigned() ? Long.compare(m, n) : Long.compareUnsigned(m, n);
      } else {
        order = Arrays.compareUnsigned(column.value(x), column.value(y));
      }
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private long begin(Entry entry) {
    Spec column = columns.get(key.get(0));
    Object value = entry.keyValues[0];
    if (value instanceof Boolean is) {
      return is ? 1 : 0;
    }
    if (column.isInteger()) {
      long number = ((Number) value).longValue();
      return column.isSigned() ? number ^ Long.MIN_VALUE : number;
    }
    long begin = 0;
    byte[] bytes = column.value(value);
    for (int i = 0; i < 8; i++) {
      begin = begin << 8 | (i < bytes.length ? bytes[i] & 0xff : 0);
    }
    return begin;
  }

  public void write(Path path) throws IOException {
    long seed = 42;
    Pilots pilots;
    do {
      seed++;
      for (Entry entry : entries) {
        entry.hash = Hash.of(entry.keyBytes, seed);
      }
      pilots = Pilots.find(entries.stream().mapToLong(entry -> entry.hash).toArray(), partSlots);
    } while (pilots == null);
    Entry[] bySlot = new Entry[pilots.parts * pilots.slots];
    for (Entry entry : entries) {
      entry.slot = pilots.slot(entry.hash);
      if (bySlot[entry.slot] != null) {
        throw new AssertionError("two keys have one slot");
      }
      bySlot[entry.slot] = entry;
    }
    Files.write(path, file(seed, pilots, bySlot));
  }

  private byte[] file(long seed, Pilots pilots, Entry[] bySlot) {
    int rowBytes = several || entries.isEmpty() ? 0 : entries.get(0).rows.get(0).length;
    for (Entry entry : entries) {
      rowBytes = entry.rows.get(0).length == rowBytes ? rowBytes : 0;
    }
    boolean grouped = rowBytes == 0;
    ByteArrayOutputStream used = new ByteArrayOutputStream();
    ByteArrayOutputStream groups = new ByteArrayOutputStream();
    ByteArrayOutputStream rows = new ByteArrayOutputStream();
    int endBytes = 0;
    if (grouped) {
      endBytes = groupBytes(bySlot) <= 0xffff ? 2 : 4;
      writeGroups(bySlot, endBytes, groups, rows);
    } else {
      byte[] bits = new byte[(bySlot.length + 63) / 64 * 8];
      for (int slot = 0; slot < bySlot.length; slot++) {
        bits[slot / 8] |= (byte) ((bySlot[slot] != null ? 1 : 0) << slot % 8);
        rows.writeBytes((bySlot[slot] != null ? bySlot[slot] : entries.get(0)).rows.get(0));
      }
      used.writeBytes(bits);
    }
    ByteArrayOutputStream order = new ByteArrayOutputStream();
    ByteArrayOutputStream fences = new ByteArrayOutputStream();
    if (sorted) {
      List<Entry> inOrder = new ArrayList<>(entries);
      inOrder.sort((a, b) -> order(a, b));
      for (int i = 0; i < inOrder.size(); i++) {
        Spec.Row.number(order, inOrder.get(i).slot, 4);
        if (i % 64 == 0) {
          Spec.Row.number(fences, begin(inOrder.get(i)), 8);
        }
      }
    }
    byte[][] sections = {schema(), pilots.bytes, used.toByteArray(), groups.toByteArray(), rows.toByteArray(),
        dictionaries(), order.toByteArray(), fences.toByteArray()};
    long rowCount = entries.stream().mapToLong(entry -> entry.rows.size()).sum();
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    header.writeBytes(MAGIC);
    Spec.Row.number(header, 2, 4);
    Spec.Row.number(header, (several ? 1 : 0) | (sorted ? 2 : 0), 4);
    for (long number : new long[] {entries.size(), rowCount, seed}) {
      Spec.Row.number(header, number, 8);
    }
    for (int number : new int[] {pilots.parts, pilots.buckets, pilots.slots, rowBytes, endBytes, 0}) {
      Spec.Row.number(header, number, 4);
    }
    return assemble(header, sections);
  }

  private static byte[] assemble(ByteArrayOutputStream header, byte[][] sections) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (byte[] section : sections) {
      body.writeBytes(new byte[-body.size() & 7]);
      Spec.Row.number(header, 4096 + body.size(), 8);
      Spec.Row.number(header, section.length, 8);
      body.writeBytes(section);
    }
    body.writeBytes(new byte[-body.size() & 7]);
    int sumsAt = 4096 + body.size();
    Spec.Row.number(header, sumsAt, 8);
    Spec.Row.number(header, (sumsAt + 65535) / 65536 * 4, 8);
    header.writeBytes(new byte[4092 - header.size()]);
    CRC32C crc = new CRC32C();
    crc.update(header.toByteArray());
    Spec.Row.number(header, crc.getValue(), 4);
    header.writeBytes(body.toByteArray());
    byte[] all = header.toByteArray();
    ByteArrayOutputStream sums = new ByteArrayOutputStream();
    for (int at = 0; at < all.length; at += 65536) {
      crc.reset();
      crc.update(all, at, Math.min(65536, all.length - at));
      Spec.Row.number(sums, crc.getValue(), 4);
    }
    header.writeBytes(sums.toByteArray());
    return header.toByteArray();
  }

  private byte[] schema() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Spec.Row.number(out, columns.size(), 2);
    columns.forEach(column -> column.write(out));
    Spec.Row.number(out, key.size(), 2);
    key.forEach(number -> Spec.Row.number(out, number, 2));
    return out.toByteArray();
  }

  private byte[] dictionaries() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Map<String, Integer> texts : dictionaries.values()) {
      out.writeBytes(new byte[-out.size() & 7]);
      ByteArrayOutputStream ends = new ByteArrayOutputStream();
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (String text : texts.keySet()) {
        all.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        Spec.Row.number(ends, all.size(), 4);
      }
      Spec.Row.number(out, texts.size(), 8);
      Spec.Row.number(out, all.size(), 8);
      out.writeBytes(ends.toByteArray());
      out.writeBytes(all.toByteArray());
    }
    return out.toByteArray();
  }

  private byte[] slotBytes(Entry entry) {
    if (entry == null) {
      return new byte[0];
    }
    if (!several) {
      return entry.rows.get(0);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] row : entry.rows) {
      Spec.Row.leb(out, row.length);
      out.writeBytes(row);
    }
    return out.toByteArray();
  }

  private long groupBytes(Entry[] bySlot) {
    long most = 0;
    for (int begin = 0; begin < bySlot.length; begin += 16) {
      long bytes = 0;
      for (int slot = begin; slot < Math.min(begin + 16, bySlot.length); slot++) {
        bytes += slotBytes(bySlot[slot]).length;
      }
      most = Math.max(most, bytes);
    }
    return most;
  }

  private void writeGroups(Entry[] bySlot, int endBytes, ByteArrayOutputStream groups, ByteArrayOutputStream rows) {
    for (int begin = 0; begin < bySlot.length; begin += 16) {
      int base = rows.size();
      Spec.Row.number(groups, base, 8);
      for (int slot = begin; slot < begin + 16; slot++) {
        Spec.Row.number(groups, rows.size() - base, endBytes);
        rows.writeBytes(slotBytes(slot < bySlot.length ? bySlot[slot] : null));
      }
      Spec.Row.number(groups, rows.size() - base, endBytes);
    }
  }

  /** Pilots by trial, for large buckets first. */
  private static final class Pilots {
    int parts;
    int buckets;
    int slots;
    byte[] bytes = new byte[0];

    static Pilots find(long[] hashes, int partSlots) {
      Pilots of = new Pilots();
      if (hashes.length == 0) {
        return of;
      }
      of.parts = (int) (hashes.length / 0.7 / partSlots) + 1;
      of.slots = (int) (hashes.length / 0.7 / of.parts + 4 * Math.sqrt(hashes.length / of.parts)) + 1;
      // One to two keys in each.
      of.buckets = Math.max(1, Integer.highestOneBit(hashes.length / of.parts));
      of.bytes = new byte[of.parts * of.buckets];
      Map<Integer, List<Long>> byBucket = new LinkedHashMap<>();
      for (long hash : hashes) {
        byBucket.computeIfAbsent(of.bucket(hash), bucket -> new ArrayList<>()).add(hash);
      }
      List<Map.Entry<Integer, List<Long>>> all = new ArrayList<>(byBucket.entrySet());
      all.sort(Comparator.comparing(bucket -> -bucket.getValue().size()));
      boolean[] used = new boolean[of.parts * of.slots];
      for (Map.Entry<Integer, List<Long>> bucket : all) {
        if (!of.place(bucket.getKey(), bucket.getValue(), used)) {
          return null;
        }
      }
      return of;
    }

    private boolean place(int bucket, List<Long> hashes, boolean[] used) {
      for (int pilot = 0; pilot < 256; pilot++) {
        bytes[bucket] = (byte) pilot;
        List<Integer> slots = hashes.stream().map(this::slot).distinct().toList();
        if (slots.size() == hashes.size() && slots.stream().noneMatch(slot -> used[slot])) {
          slots.forEach(slot -> used[slot] = true);
          return true;
        }
      }
      return false;
    }

    private int bucket(long hash) {
      return (int) Hash.high(hash, (long) parts * buckets);
    }

    int slot(long hash) {
      int bucket = bucket(hash);
      long x = (hash ^ (bytes[bucket] & 0xff) * 0x4d5a2da51de1aa47L) * 0x9E3779B97F4A7C15L;
      return bucket / buckets * slots + (int) Hash.high(x, slots);
    }
  }
}
