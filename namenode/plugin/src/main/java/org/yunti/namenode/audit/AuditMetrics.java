package org.yunti.namenode.audit;

import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;

/** Metrics of the audit log: {@code Hadoop:service=NameNode,name=YuntiAudit} in /jmx. */
@Metrics(name = "YuntiAudit", about = "The audit log", context = "dfs")
final class AuditMetrics {
  private static final String NAME = "YuntiAudit";

  @Metric("Events received")
  MutableCounterLong events;

  @Metric("Lines written")
  MutableCounterLong lines;

  @Metric("Bytes written")
  MutableCounterLong bytes;

  @Metric("Operations that waited for a place in the full ring")
  MutableCounterLong waits;

  @Metric("Milliseconds that operations waited for a place in the ring")
  MutableCounterLong waitMillis;

  @Metric("Events without a place in time, written to the NameNode's own log")
  MutableCounterLong overflows;

  @Metric("Failed writes of the file")
  MutableCounterLong errors;

  private final EventRing ring;

  private AuditMetrics(EventRing ring) {
    this.ring = ring;
  }

  /** Registers the metrics; several NameNodes in a process, as in tests, get numbered names. */
  static synchronized AuditMetrics of(EventRing ring) {
    MetricsSystem system = DefaultMetricsSystem.instance();
    String name = NAME;
    for (int number = 2; system.getSource(name) != null; number++) {
      name = NAME + number;
    }
    return system.register(name, "The audit log", new AuditMetrics(ring));
  }

  /** Returns the events in the ring. */
  @Metric("Events in the ring")
  public int getWaitingEvents() {
    return ring.size();
  }
}
