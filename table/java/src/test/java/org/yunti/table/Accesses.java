package org.yunti.table;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.yunti.table.memory.Access;

/** The accesses that this JVM has. */
final class Accesses {
  private Accesses() {
  }

  static List<Access> here() {
    List<Access> all = new ArrayList<>();
    for (Access access : Access.values()) {
      try {
        Path file = Files.createTempFile("yunti", ".bytes");
        Files.write(file, new byte[16]);
        access.map(file).close();
        Files.delete(file);
        all.add(access);
      } catch (IOException e) {
        throw new AssertionError(e);
      } catch (UnsupportedOperationException absent) {
        continue;
      }
    }
    return all;
  }
}
