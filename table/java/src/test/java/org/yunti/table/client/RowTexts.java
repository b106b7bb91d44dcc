package org.yunti.table.client;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

import org.yunti.table.Row;

/** Rows as texts with all their values. */
final class RowTexts {
  private RowTexts() {
  }

  static String text(Iterable<Row> rows) {
    return StreamSupport.stream(rows.spliterator(), false).map(RowTexts::text).collect(Collectors.joining("\n"));
  }

  private static String text(Object value) {
    if (value instanceof Row row) {
      return row.layout().columns().stream().map(column -> column.name() + "=" + text(row.get(column.number())))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof List<?> list) {
      return list.stream().map(RowTexts::text).collect(Collectors.joining(", ", "[", "]"));
    }
    return value instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(value);
  }
}
