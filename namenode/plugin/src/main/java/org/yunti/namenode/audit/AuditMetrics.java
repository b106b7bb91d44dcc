package org.yunti.namenode.audit;

import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;

/** {@code Hadoop:service=NameNode,name=YuntiAudit} in /jmx. */
@Metrics(name = "YuntiAudit", about = "The audit log", context = "dfs")
final class AuditMetrics {
  private static final String NAME = "YuntiAudit";

  @Metric("Events that were taken")
  MutableCounterLong events;

  @Metric("Lines that were written")
  MutableCounterLong lines;

  @Metric("Bytes that were written")
  MutableCounterLong bytes;

  @Metric("Operations that waited for a place in the ring")
  MutableCounterLong waits;

  @Metric("How long they waited, in milliseconds")
  MutableCounterLong waitMillis;

  @Metric("Events that had no place in time, and went to the NameNode's own log")
  MutableCounterLong overflows;

  @Metric("Times that the file could not be written")
  MutableCounterLong errors;

  private final EventRing ring;

  private AuditMetrics(EventRing ring) {
    this.ring = ring;
  }

  /** Several NameNodes in a process, as tests have them, have one each. */
  static synchronized AuditMetrics of(EventRing ring) {
    MetricsSystem system = DefaultMetricsSystem.instance();
    String name = NAME;
    for (int number = 2; system.getSource(name) != null; number++) {
      name = NAME + number;
    }
    return system.register(name, "The audit log", new AuditMetrics(ring));
  }

  @Metric("Events that wait to be written")
  public int getWaitingEvents() {
    return ring.size();
  }
}
