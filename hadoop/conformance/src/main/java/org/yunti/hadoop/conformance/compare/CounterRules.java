package org.yunti.hadoop.conformance.compare;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counters that two correct runs of one job may count differently, each with its reason. All others must be equal.
 * README.md has the same list.
 */
final class CounterRules {
  private static final String TIME = "measures the machine, not the data";
  private static final String LAYOUT = "depends on the layout of the map output on disk, not on its records";

  /** Reasons by {@code GROUP:COUNTER}, or by {@code GROUP} for all its counters. */
  private static final Map<String, String> FREE = new LinkedHashMap<>();

  static {
    FREE.put("TaskCounter:GC_TIME_MILLIS", TIME);
    FREE.put("TaskCounter:CPU_MILLISECONDS", TIME);
    FREE.put("TaskCounter:PHYSICAL_MEMORY_BYTES", TIME);
    FREE.put("TaskCounter:VIRTUAL_MEMORY_BYTES", TIME);
    FREE.put("TaskCounter:COMMITTED_HEAP_BYTES", TIME);
    FREE.put("TaskCounter:MAP_PHYSICAL_MEMORY_BYTES_MAX", TIME);
    FREE.put("TaskCounter:MAP_VIRTUAL_MEMORY_BYTES_MAX", TIME);
    FREE.put("TaskCounter:REDUCE_PHYSICAL_MEMORY_BYTES_MAX", TIME);
    FREE.put("TaskCounter:REDUCE_VIRTUAL_MEMORY_BYTES_MAX", TIME);
    FREE.put("TaskCounter:SPILLED_RECORDS", "how often a record is spilled depends on the sort buffer");
    FREE.put("TaskCounter:MAP_OUTPUT_MATERIALIZED_BYTES", LAYOUT);
    FREE.put("TaskCounter:REDUCE_SHUFFLE_BYTES", LAYOUT);
    FREE.put("FileSystemCounter", "counts spill files too, and in one JVM the tasks share the statistics");
    FREE.put("JobCounter:MILLIS_MAPS", TIME);
    FREE.put("JobCounter:MILLIS_REDUCES", TIME);
    FREE.put("JobCounter:SLOTS_MILLIS_MAPS", TIME);
    FREE.put("JobCounter:SLOTS_MILLIS_REDUCES", TIME);
    FREE.put("JobCounter:VCORES_MILLIS_MAPS", TIME);
    FREE.put("JobCounter:VCORES_MILLIS_REDUCES", TIME);
    FREE.put("JobCounter:MB_MILLIS_MAPS", TIME);
    FREE.put("JobCounter:MB_MILLIS_REDUCES", TIME);
    FREE.put("JobCounter:DATA_LOCAL_MAPS", "the scheduler chooses the node of a task");
    FREE.put("JobCounter:RACK_LOCAL_MAPS", "the scheduler chooses the node of a task");
    FREE.put("JobCounter:OTHER_LOCAL_MAPS", "the scheduler chooses the node of a task");
    FREE.put("Yunti time, ms", TIME);
    FREE.put(NativeClaim.GROUP, "the plug-in's own counters are checked separately");
  }

  private CounterRules() {}

  /** @param counter as {@code GROUP:COUNTER} */
  static boolean isFree(String counter) {
    return FREE.containsKey(counter) || FREE.containsKey(counter.substring(0, counter.indexOf(':')));
  }
}
