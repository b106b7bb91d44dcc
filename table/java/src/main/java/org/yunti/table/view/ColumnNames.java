package org.yunti.table.view;

import org.yunti.table.schema.Column;
import org.yunti.table.schema.Layout;

/** Names of getters, and the columns they mean. */
public final class ColumnNames {
  private ColumnNames() {
  }

  /**
   * Returns the column of a getter's name: {@code user_id} for {@code user_id}, {@code userId}, {@code getUserId} and
   * {@code isUserId}, in that order.
   */
  public static Column find(Layout layout, String getter, String where) {
    String bare = withoutPrefix(getter);
    for (String name : new String[] {getter, snake(getter), bare, snake(bare)}) {
      if (layout.has(name)) {
        return layout.column(layout.column(name));
      }
    }
    throw new IllegalArgumentException(where + " has no column; the columns are " + layout);
  }

  private static String withoutPrefix(String getter) {
    int prefix = getter.startsWith("get") ? 3 : getter.startsWith("is") ? 2 : 0;
    if (prefix == 0 || getter.length() == prefix || !Character.isUpperCase(getter.charAt(prefix))) {
      return getter;
    }
    return Character.toLowerCase(getter.charAt(prefix)) + getter.substring(prefix + 1);
  }

  private static String snake(String camel) {
    StringBuilder out = new StringBuilder();
    for (char c : camel.toCharArray()) {
      if (Character.isUpperCase(c)) {
        out.append(out.length() == 0 ? "" : "_").append(Character.toLowerCase(c));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }
}
