package org.yunti.hadoop.conformance.cases.keys;

import java.util.List;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.serializer.JavaSerialization;
import org.apache.hadoop.io.serializer.JavaSerializationComparator;
import org.apache.hadoop.io.serializer.WritableSerialization;
import org.yunti.hadoop.conformance.suite.Case;
import org.yunti.hadoop.conformance.trace.Traced;

/** Keys and values that are plain serialisable Java objects instead of Writables. */
public final class SerializableKeys {
  private SerializableKeys() {}

  public static List<Case> cases() {
    return List.of(
        serialised(Traced.of("keys/java-serialization", String.class,
            (random, record) -> "key" + random.nextInt(99), Long.class, (random, record) -> random.nextLong())
            .tweak(job -> job.setSortComparatorClass(JavaSerializationComparator.class))),
        serialised(Traced.of("values/java-serialization", Text.class,
            (random, record) -> new Text("key" + random.nextInt(99)), Long.class,
            (random, record) -> random.nextLong())));
  }

  private static Case serialised(Case traced) {
    return traced
        .set("io.serializations", JavaSerialization.class.getName() + "," + WritableSerialization.class.getName());
  }
}
