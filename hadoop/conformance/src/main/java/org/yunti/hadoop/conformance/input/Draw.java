package org.yunti.hadoop.conformance.input;

import java.util.List;
import java.util.Random;

/** Deterministic source of objects: the same seed and record number give the same object. */
@FunctionalInterface
public interface Draw<T> {
  /** @param record the number of the record in its file, so that a draw can list edge values first */
  T draw(Random random, int record);

  /** Returns a draw that lists each edge once; a quarter of the later records repeat one of them. */
  static <T> Draw<T> edges(List<T> edges, Draw<T> rest) {
    return (random, record) -> {
      if (record < edges.size()) {
        return edges.get(record);
      }
      return random.nextInt(4) == 0 ? edges.get(random.nextInt(edges.size())) : rest.draw(random, record);
    };
  }

  static <T> Draw<T> always(T object) {
    return (random, record) -> object;
  }

  static <T> Draw<T> among(List<T> objects) {
    return (random, record) -> objects.get(random.nextInt(objects.size()));
  }
}
