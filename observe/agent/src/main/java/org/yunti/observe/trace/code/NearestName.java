package org.yunti.observe.trace.code;

/** Finds the name that a user may have meant. */
final class NearestName {
  private NearestName() {}

  /** Returns the nearest name; null if none is near. */
  static String of(String wanted, Iterable<String> names) {
    String best = null;
    int least = Math.max(2, wanted.length() / 3) + 1;
    for (String name : names) {
      int distance = name.equalsIgnoreCase(wanted) ? 0
          : Math.abs(name.length() - wanted.length()) >= least ? least
          : distance(wanted, name);
      if (distance < least) {
        least = distance;
        best = name;
      }
    }
    return best;
  }

  /** Levenshtein distance: inserted, deleted and changed letters. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int changed = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
