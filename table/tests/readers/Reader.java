import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.yunti.table.Batch;
import org.yunti.table.Elements;
import org.yunti.table.Key;
import org.yunti.table.Row;
import org.yunti.table.Rows;
import org.yunti.table.SharedTable;
import org.yunti.table.Table;
import org.yunti.table.client.TableClient;
import org.yunti.table.schema.Column;
import org.yunti.table.schema.Type;

/**
 * Reader of tables in Java, for readers_test.py: answers queries as canonical text.
 *
 * <pre>
 *   standard input    TABLE \t QUERIES \t ANSWERS    three files a line; table t of servers is remote:ADDRESS,..
 *   standard output   done | error: ..               a line for each
 * </pre>
 *
 * <p>readers_test.py describes queries and answers. A range ends before its last key, as SharedTable.range has it.
 */
final class Reader {
  private static final char[] DIGITS = "0123456789abcdef".toCharArray();

  private static final String REMOTE = "remote:";

  private final Table table;
  private final List<Column> keyColumns;
  private final StringBuilder out = new StringBuilder();
  /** Keys of the batch that the next lines may continue. */
  private final List<Object[]> batch = new ArrayList<>();
  private final Row row;
  private final Key key;

  private Reader(Table table) {
    this.table = table;
    keyColumns = table.schema().key();
    row = table.row();
    key = table.key();
  }

  public static void main(String[] none) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] places = line.split("\t");
      try (Table table = open(places[0]);
          Writer answers = Files.newBufferedWriter(Path.of(places[2]))) {
        Reader reader = new Reader(table);
        for (String query : Files.readAllLines(Path.of(places[1]))) {
          reader.answer(query.split(" "));
          answers.append(reader.out);
          reader.out.setLength(0);
        }
        reader.endBatch();
        answers.append(reader.out).close();
        System.out.println("done");
      } catch (RuntimeException | IOException e) {
        System.out.println("error: " + e);
      }
    }
  }

  private static Table open(String place) throws IOException {
    return place.startsWith(REMOTE) ? TableClient.connect("t", place.substring(REMOTE.length()).split(","))
        : SharedTable.open(Path.of(place));
  }

  private void answer(String[] query) {
    if (!query[0].equals("batch")) {
      endBatch();
    }
    switch (query[0]) {
      case "get" -> get(parts(query[1]));
      case "all" -> writeRows(getAll(parts(query[1])));
      case "batch" -> batch.add(parts(query[1]));
      case "range" -> writeRows(query[1].equals("*") && query[2].equals("*") ? file().sorted()
          : file().range(bound(query[1]), bound(query[2])));
      case "prefix" -> writeRows(file().prefix(bound(query[1])));
      case "walk" -> writeRows(file().rows());
      case "scan" -> scan();
      default -> throw new IllegalArgumentException("no query: " + String.join(" ", query));
    }
  }

  /** Returns the table of a file, which alone has an order and walks. */
  private SharedTable file() {
    return (SharedTable) table;
  }

  /** Returns the values of the first columns of a key: Long, byte[], or String where a column has text. */
  private Object[] parts(String word) {
    String[] words = word.split(",", -1);
    Object[] parts = new Object[words.length];
    for (int i = 0; i < parts.length; i++) {
      Type type = keyColumns.get(i).type();
      if (!words[i].startsWith("x")) {
        parts[i] = type.isUnsigned() ? Long.parseUnsignedLong(words[i]) : Long.parseLong(words[i]);
        continue;
      }
      byte[] bytes = new byte[words[i].length() / 2];
      for (int k = 0; k < bytes.length; k++) {
        bytes[k] = (byte) Integer.parseInt(words[i].substring(2 * k + 1, 2 * k + 3), 16);
      }
      String text = new String(bytes, StandardCharsets.UTF_8);
      boolean isText = type == Type.UTF8 && Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes);
      parts[i] = isText ? text : bytes;
    }
    return parts;
  }

  private Key bound(String word) {
    return word.equals("*") ? null : fill(table.key(), parts(word));
  }

  private static Key fill(Key key, Object[] parts) {
    key.clear();
    for (Object part : parts) {
      key.add(part);
    }
    return key;
  }

  /** Looks up a row as an object and by a row that moves. They give their values by different calls. */
  private void get(Object[] parts) {
    Row found = parts.length > 1 ? table.get(parts) : parts[0] instanceof Long ? table.get((Long) parts[0])
        : parts[0] instanceof String ? table.get((String) parts[0]) : table.get((byte[]) parts[0]);
    boolean isFound = find(parts);
    if (isFound != (found != null) || isFound && !text(found, true).equals(text(row, false))) {
      throw new IllegalStateException("find differs from get: " + found + " and " + row);
    }
    write(found);
  }

  /** Moves the row to a key. */
  private boolean find(Object[] parts) {
    if (parts.length > 1) {
      return table.find(fill(key, parts), row);
    }
    return parts[0] instanceof Long ? table.find((Long) parts[0], row)
        : parts[0] instanceof String ? table.find((String) parts[0], row) : table.find((byte[]) parts[0], row);
  }

  private Rows getAll(Object[] parts) {
    if (parts.length > 1) {
      return table.getAll(fill(key, parts));
    }
    return parts[0] instanceof Long ? table.getAll((Long) parts[0])
        : parts[0] instanceof String ? table.getAll((String) parts[0]) : table.getAll((byte[]) parts[0]);
  }

  /** Looks up keys together: numbers, texts, or keys of any columns. */
  private void endBatch() {
    if (batch.isEmpty()) {
      return;
    }
    Batch found = table.batch();
    boolean isSingle = batch.get(0).length == 1;
    if (isSingle && batch.stream().allMatch(parts -> parts[0] instanceof Long)) {
      table.getAll(batch.stream().mapToLong(parts -> (Long) parts[0]).toArray(), found);
    } else if (isSingle && batch.stream().allMatch(parts -> parts[0] instanceof String)) {
      table.getAll(batch.stream().map(parts -> (String) parts[0]).toArray(String[]::new), found);
    } else {
      table.getAll(batch.toArray(new Object[0][]), found);
    }
    for (int i = 0; i < batch.size(); i++) {
      write(found.move(i, row) ? row : null);
    }
    batch.clear();
  }

  private void write(Row found) {
    if (found == null) {
      out.append("none");
    } else {
      writeValues(found, false, out);
    }
    out.append('\n');
  }

  private void writeRows(Rows rows) {
    int begin = out.length();
    long count = 0;
    while (rows.next(row)) {
      write(row);
      count++;
    }
    out.insert(begin, count + " rows\n");
  }

  /** Walks by the iterator, whose rows do not move, and reads values as objects. */
  private void scan() {
    int begin = out.length();
    long count = 0;
    for (Row one : file()) {
      out.append(text(one, true)).append('\n');
      count++;
    }
    out.insert(begin, count + " rows\n");
  }

  private static String text(Row row, boolean asObjects) {
    StringBuilder text = new StringBuilder();
    writeValues(row, asObjects, text);
    return text.toString();
  }

  private static void writeValues(Row row, boolean asObjects, StringBuilder out) {
    List<Column> columns = row.layout().columns();
    for (int i = 0; i < columns.size(); i++) {
      out.append(i == 0 ? "" : " ");
      if (asObjects) {
        writeObject(columns.get(i), row.get(i), out);
      } else {
        writeValue(columns.get(i), row, i, out);
      }
    }
  }

  /** Writes a value by the getter of its type. */
  private static void writeValue(Column column, Row row, int i, StringBuilder out) {
    if (row.isNull(i)) {
      out.append('-');
      return;
    }
    switch (column.type()) {
      case BOOL -> out.append(row.getBoolean(i));
      case U64 -> out.append(Long.toUnsignedString(row.getLong(i)));
      case F32 -> writeHex(Float.floatToRawIntBits(row.getFloat(i)), 8, out);
      case F64 -> writeHex(Double.doubleToRawLongBits(row.getDouble(i)), 16, out);
      case UTF8, BYTES, DICT -> writeBytes(row.getBytes(i), out);
      case RECORD -> {
        out.append('{');
        writeValues(row.getRecord(i), false, out);
        out.append('}');
      }
      case LIST -> writeElements(row.getList(i), out);
      default -> out.append(row.getLong(i));
    }
  }

  /** Writes the elements of a list by the getters of their type. */
  private static void writeElements(Elements list, StringBuilder out) {
    out.append('[');
    for (int i = 0; i < list.size(); i++) {
      out.append(i == 0 ? "" : " ");
      if (list.isNull(i)) {
        out.append('-');
        continue;
      }
      switch (list.element().type()) {
        case BOOL -> out.append(list.getBoolean(i));
        case U64 -> out.append(Long.toUnsignedString(list.getLong(i)));
        case F32 -> writeHex(Float.floatToRawIntBits((float) list.getDouble(i)), 8, out);
        case F64 -> writeHex(Double.doubleToRawLongBits(list.getDouble(i)), 16, out);
        case UTF8, BYTES -> writeBytes(list.getBytes(i), out);
        case RECORD -> {
          out.append('{');
          writeValues(list.getRecord(i), false, out);
          out.append('}');
        }
        case LIST -> writeElements(list.getList(i), out);
        default -> out.append(list.getLong(i));
      }
    }
    out.append(']');
  }

  /** Writes a value that was read as an object. */
  private static void writeObject(Column column, Object value, StringBuilder out) {
    if (value == null) {
      out.append('-');
    } else if (value instanceof Long number) {
      out.append(column.type() == Type.U64 ? Long.toUnsignedString(number) : number.toString());
    } else if (value instanceof Float number) {
      writeHex(Float.floatToRawIntBits(number), 8, out);
    } else if (value instanceof Double number) {
      writeHex(Double.doubleToRawLongBits(number), 16, out);
    } else if (value instanceof String text) {
      writeBytes(text.getBytes(StandardCharsets.UTF_8), out);
    } else if (value instanceof byte[] bytes) {
      writeBytes(bytes, out);
    } else if (value instanceof Row record) {
      out.append('{');
      writeValues(record, true, out);
      out.append('}');
    } else if (value instanceof Elements list) {
      out.append('[');
      for (int i = 0; i < list.size(); i++) {
        out.append(i == 0 ? "" : " ");
        writeObject(list.element(), list.get(i), out);
      }
      out.append(']');
    } else {
      out.append(value);
    }
  }

  private static void writeHex(long bits, int digits, StringBuilder out) {
    for (int i = digits - 1; i >= 0; i--) {
      out.append(DIGITS[(int) (bits >>> 4 * i & 15)]);
    }
  }

  private static void writeBytes(byte[] bytes, StringBuilder out) {
    out.append('x');
    for (byte one : bytes) {
      writeHex(one, 2, out);
    }
  }
}
