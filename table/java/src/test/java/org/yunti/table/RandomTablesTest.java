package org.yunti.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yunti.table.memory.Access;
import org.yunti.table.written.Command;
import org.yunti.table.written.RandomTable;
import org.yunti.table.written.Spec;

/** Random tables of the tests' writer: all that the reader offers gives the rows that were written. */
class RandomTablesTest {
  private static final int TABLES = 40;
  private static final int TABLES_OF_COMMAND = 40;

  @TempDir
  Path folder;

  static List<Access> accesses() {
    return Accesses.here();
  }

  @ParameterizedTest
  @MethodSource("accesses")
  void tablesAreReadAsTheyWereWritten(Access access) throws IOException {
    for (int seed = 0; seed < TABLES; seed++) {
      RandomTable random = new RandomTable(seed);
      Path path = folder.resolve(access + "-" + seed + ".ytab");
      random.writer.write(path);
      try (SharedTable table = SharedTable.open(path, Options.usual().access(access))) {
        new Check(random, table, seed).all();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + random.columns + " key " + random.key, e);
      }
    }
  }

  @Test
  void tablesOfTheCommandAreReadToo() throws IOException, InterruptedException {
    Path command = Command.find();
    for (int seed = 1000; seed < 1000 + TABLES_OF_COMMAND; seed++) {
      RandomTable random = new RandomTable(seed, true);
      Path path = folder.resolve(seed + ".ytab");
      Command.build(command, random, folder.resolve(seed + ".json"), path);
      try (SharedTable table = SharedTable.open(path)) {
        new Check(random, table, seed).all();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + random.columns + " key " + random.key, e);
      }
    }
  }

  /** One table beside its expected rows. */
  private static final class Check {
    private final RandomTable random;
    private final SharedTable table;
    private final Map<String, List<Object[]>> byKey = new LinkedHashMap<>();
    private final Random choice;

    Check(RandomTable random, SharedTable table, long seed) {
      this.random = random;
      this.table = table;
      choice = new Random(seed);
      random.rows.forEach(row -> byKey.computeIfAbsent(random.keyText(row), key -> new ArrayList<>()).add(row));
    }

    void all() {
      table.verify();
      assertEquals(byKey.size(), table.size());
      assertEquals(random.rows.size(), table.rowCount());
      Row flyweight = table.row();
      Key key = table.key();
      for (List<Object[]> rows : byKey.values()) {
        Object[] of = random.keyOf(rows.get(0));
        same(rows.get(0), table.get(of));
        assertTrue(table.find(key.clear().addAll(of), flyweight));
        same(rows.get(0), flyweight);
        same(rows, table.getAll(of));
        if (of.length == 1) {
          single(rows, of[0], flyweight);
        }
      }
      for (int i = 0; i < 200; i++) {
        Object[] other = random.otherKey();
        assertEquals(byKey.containsKey(random.keyText(other(other))), table.get(other) != null);
      }
      walk();
      if (table.file().header.isSorted) {
        ordered();
      }
      batch();
    }

    /** Returns a row that has a key and nothing else. */
    private Object[] other(Object[] key) {
      Object[] row = new Object[random.writer.columns().size()];
      for (int i = 0; i < row.length; i++) {
        int number = random.key.indexOf(random.writer.columns().get(i).name());
        row[i] = number < 0 ? null : key[number];
      }
      return row;
    }

    private void single(List<Object[]> rows, Object key, Row flyweight) {
      if (key instanceof Number number) {
        same(rows.get(0), table.get(number.longValue()));
        same(rows, table.getAll(number.longValue()));
      } else if (key instanceof String text) {
        same(rows.get(0), table.get(text));
        byte[] bytes = ("--" + text + "-").getBytes(java.nio.charset.StandardCharsets.UTF_8);
        same(rows.get(0), table.get(bytes, 2, bytes.length - 3));
        assertTrue(table.find(text, flyweight));
        same(rows.get(0), flyweight);
      } else if (key instanceof byte[] bytes) {
        same(rows.get(0), table.get(bytes));
      }
    }

    private void walk() {
      Map<String, List<Object[]>> left = new LinkedHashMap<>();
      byKey.forEach((key, rows) -> left.put(key, new ArrayList<>(rows)));
      Row row = table.row();
      Rows rows = table.rows();
      while (rows.next(row)) {
        same(left.get(keyText(row)).remove(0), row);
      }
      assertTrue(left.values().stream().allMatch(List::isEmpty));
      int count = 0;
      for (Row one : table) {
        assertNotNull(one);
        count++;
      }
      assertEquals(random.rows.size(), count);
    }

    private String keyText(Row row) {
      return random.keyText(other(random.key.stream().map(row::get).toArray()));
    }

    private void ordered() {
      List<List<Object[]>> sorted = new ArrayList<>(byKey.values());
      sorted.sort((a, b) -> random.compareKeys(random.keyOf(a.get(0)), random.keyOf(b.get(0))));
      same(flat(sorted), table.sorted());
      for (int i = 0; i < 60; i++) {
        int columns = 1 + choice.nextInt(random.key.size());
        Object[] from = bound(sorted, columns);
        Object[] to = bound(sorted, columns);
        List<List<Object[]>> within = sorted.stream().filter(rows -> compare(rows, from) >= 0 && compare(rows, to) < 0)
            .toList();
        same(flat(within), table.range(table.key().addAll(from), table.key().addAll(to)));
        Object last = from[columns - 1];
        if (last instanceof String text) {
          from[columns - 1] = text.substring(0, choice.nextInt(text.length() + 1));
        }
        List<List<Object[]>> begins = sorted.stream().filter(rows -> begins(rows, from)).toList();
        same(flat(begins), table.prefix(table.key().addAll(from)));
      }
    }

    private Object[] bound(List<List<Object[]>> sorted, int columns) {
      Object[] key = sorted.isEmpty() || choice.nextBoolean() ? random.otherKey()
          : random.keyOf(sorted.get(choice.nextInt(sorted.size())).get(0));
      return java.util.Arrays.copyOf(key, columns);
    }

    private int compare(List<Object[]> rows, Object[] bound) {
      return random.compareKeys(java.util.Arrays.copyOf(random.keyOf(rows.get(0)), bound.length), bound);
    }

    private boolean begins(List<Object[]> rows, Object[] bound) {
      Object[] key = java.util.Arrays.copyOf(random.keyOf(rows.get(0)), bound.length);
      int last = bound.length - 1;
      if (key[last] instanceof String text && text.startsWith((String) bound[last])) {
        key[last] = bound[last];
      } else if (key[last] instanceof byte[] bytes && bytes.length > ((byte[]) bound[last]).length) {
        key[last] = java.util.Arrays.copyOf(bytes, ((byte[]) bound[last]).length);
      }
      return random.compareKeys(key, bound) == 0;
    }

    private void batch() {
      Object[] keys = byKey.values().stream().map(rows -> random.keyOf(rows.get(0))[0]).toArray();
      Batch batch = table.batch();
      int found = -1;
      boolean isText = random.key.size() == 1 && table.schema().key().get(0).type().toString().equals("utf8");
      if (isText) {
        found = table.getAll(java.util.Arrays.copyOf(keys, keys.length, String[].class), batch);
      } else if (random.key.size() == 1 && keys.length > 0 && keys[0] instanceof Number) {
        long[] numbers = java.util.Arrays.stream(keys).mapToLong(number -> ((Number) number).longValue()).toArray();
        found = table.getAll(numbers, batch);
      }
      requireBatch(found, batch);
      Object[][] all = byKey.values().stream().map(rows -> random.keyOf(rows.get(0))).toArray(Object[][]::new);
      requireBatch(table.getAll(all, batch), batch);
    }

    private void requireBatch(int found, Batch batch) {
      Row row = table.row();
      if (found >= 0) {
        assertEquals(byKey.size(), found);
        int i = 0;
        for (List<Object[]> rows : byKey.values()) {
          assertTrue(batch.move(i++, row));
          same(rows.get(0), row);
        }
        assertFalse(batch.move(i, row));
      }
    }

    private List<Object[]> flat(List<List<Object[]>> all) {
      return all.stream().flatMap(List::stream).toList();
    }

    private void same(List<Object[]> expected, Rows rows) {
      Row row = table.row();
      for (Object[] one : expected) {
        assertTrue(rows.next(row));
        same(one, row);
      }
      assertFalse(rows.next(row));
    }

    private void same(Object[] expected, Row row) {
      assertNotNull(row);
      same(random.writer.columns(), expected, row);
    }

    private static void same(List<Spec> columns, Object[] expected, Row row) {
      for (int i = 0; i < expected.length; i++) {
        // The command puts the key's columns first.
        String name = columns.get(i).name();
        same(columns.get(i), expected[i], row.get(name));
        assertEquals(expected[i] == null, row.isNull(name));
      }
    }

    private static void same(Spec column, Object expected, Object actual) {
      if (expected == null) {
        assertNull(actual);
      } else if (expected instanceof Object[] record) {
        same(column.children(), record, (Row) actual);
      } else if (expected instanceof List<?> list) {
        assertEquals(list.size(), ((Elements) actual).size());
        for (int i = 0; i < list.size(); i++) {
          same(column.children().get(0), list.get(i), ((Elements) actual).get(i));
        }
      } else if (expected instanceof byte[] bytes) {
        assertArrayEquals(bytes, (byte[]) actual);
      } else {
        assertEquals(expected instanceof Number number && !(expected instanceof Float || expected instanceof Double)
            ? number.longValue() : expected, actual);
      }
    }
  }
}
