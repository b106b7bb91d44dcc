package org.yunti.hadoop.conformance.cases;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.yunti.hadoop.conformance.cases.api.NewApi;
import org.yunti.hadoop.conformance.cases.api.OldApi;
import org.yunti.hadoop.conformance.cases.codecs.MapOutputCodecs;
import org.yunti.hadoop.conformance.cases.combine.Combiners;
import org.yunti.hadoop.conformance.cases.examples.Examples;
import org.yunti.hadoop.conformance.cases.examples.SortExamples;
import org.yunti.hadoop.conformance.cases.failures.Failures;
import org.yunti.hadoop.conformance.cases.keys.BinaryKeys;
import org.yunti.hadoop.conformance.cases.keys.NumberKeys;
import org.yunti.hadoop.conformance.cases.keys.SerializableKeys;
import org.yunti.hadoop.conformance.cases.keys.WrittenKeys;
import org.yunti.hadoop.conformance.cases.order.Comparators;
import org.yunti.hadoop.conformance.cases.order.OwnOrders;
import org.yunti.hadoop.conformance.cases.order.Partitioners;
import org.yunti.hadoop.conformance.cases.shape.Buffers;
import org.yunti.hadoop.conformance.cases.shape.Extents;
import org.yunti.hadoop.conformance.cases.shape.Sizes;
import org.yunti.hadoop.conformance.cases.tasks.Bzip2Splits;
import org.yunti.hadoop.conformance.cases.tasks.JavaFormats;
import org.yunti.hadoop.conformance.cases.tasks.Libraries;
import org.yunti.hadoop.conformance.cases.tasks.Sorts;
import org.yunti.hadoop.conformance.cases.tasks.WordCounts;
import org.yunti.hadoop.conformance.cases.values.ValueTypes;
import org.yunti.hadoop.conformance.suite.Case;

/** List of all cases of the suite. */
public final class AllCases {
  private AllCases() {}

  public static List<Case> list() {
    List<Case> all = new ArrayList<>();
    all.addAll(NumberKeys.cases());
    all.addAll(BinaryKeys.cases());
    all.addAll(WrittenKeys.cases());
    all.addAll(SerializableKeys.cases());
    all.addAll(ValueTypes.cases());
    all.addAll(MapOutputCodecs.cases());
    all.addAll(Comparators.cases());
    all.addAll(OwnOrders.cases());
    all.addAll(Partitioners.cases());
    all.addAll(Combiners.cases());
    all.addAll(Extents.cases());
    all.addAll(Buffers.cases());
    all.addAll(Sizes.cases());
    all.addAll(Failures.cases());
    all.addAll(NewApi.cases());
    all.addAll(OldApi.cases());
    all.addAll(Examples.cases());
    all.addAll(SortExamples.cases());
    all.addAll(WordCounts.cases());
    all.addAll(Bzip2Splits.cases());
    all.addAll(JavaFormats.cases());
    all.addAll(Sorts.cases());
    all.addAll(Libraries.cases());
    Set<String> names = new HashSet<>();
    for (Case c : all) {
      if (!names.add(c.name())) {
        throw new IllegalStateException("two cases are named " + c.name());
      }
    }
    return all;
  }
}
