package org.yunti.namenode.audit;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Thread that takes events from the ring and writes their lines.
 *
 * <p>It wakes every few milliseconds, or when the ring becomes half full. A single event does not wake it.
 */
final class AuditWriter implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(RingAuditLogger.class);
  /** Logger for the events that the file could not take. */
  private static final Logger OVERFLOW = LoggerFactory.getLogger(RingAuditLogger.class.getName() + ".overflow");
  private static final long RETRY_MILLIS = 500;
  private static final long FOLLOW_MILLIS = 1000;
  private static final long REPORT_MILLIS = 60_000;
  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final AuditSettings settings;
  private final EventRing ring;
  private final AuditMetrics metrics;
  private final AuditLine line;
  private final AuditLine lineOfOverflow;
  private final RollingFile file;
  private final Thread thread;
  /** Line of the event taken last, until the file's buffer has it; null without one. */
  private byte[] kept;
  /** Lines in the file's buffer; the metrics count them once they are in the file. */
  private long linesUncounted;
  private long bytesCounted;
  /** True once the line of an event that bypasses the ring was formatted. */
  private boolean isLastTaken;
  private long followedMillis;
  private long reportedMillis = -REPORT_MILLIS;
  /** Time of the first failed write, while {@link #isFailing}. */
  private volatile long failingSinceNanos;
  private volatile boolean isFailing;
  /** True once the process ends: each thread then writes its events itself. */
  private volatile boolean isEnding;

  AuditWriter(AuditSettings settings, int contextCharsMax) throws IOException {
    this.settings = settings;
    ring = new EventRing(settings.ringEvents());
    metrics = AuditMetrics.of(ring);
    line = new AuditLine(contextCharsMax);
    lineOfOverflow = new AuditLine(contextCharsMax);
    file = new RollingFile(settings.file(), settings.fileBytesMax(), settings.backupsMax());
    file.open();
    thread = new Thread(this, "yunti-audit");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Puts an event into the ring, or, without a place in time, into the NameNode's own log. */
  void put(AuditEvent event) {
    metrics.events.incr();
    if (isEnding) {
      writeNow(event);
      return;
    }
    if (!ring.offer(event) && !offerInTime(event)) {
      overflow(event);
    }
    if (isEnding) {
      // The last write of the thread may have been before this event.
      writeNow(null);
    } else if (ring.size() > ring.capacity() / 2) {
      LockSupport.unpark(thread);
    }
  }

  /** Writes the ring's events and this one to the file, or to the NameNode's own log. */
  private synchronized void writeNow(AuditEvent event) {
    // An interrupted thread that writes to a channel closes it.
    boolean isInterrupted = Thread.interrupted();
    if (!writeAll(event)) {
      if (event != null && !isLastTaken) {
        overflow(event);
      }
      giveUp();
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean offerInTime(AuditEvent event) {
    long begin = System.nanoTime();
    long most = TimeUnit.MILLISECONDS.toNanos(settings.blockMillisMax());
    LockSupport.unpark(thread);
    boolean isIn = false;
    boolean isInterrupted = false;
    // Once the file has failed for the whole time, further operations do not wait for it.
    while (!isIn && System.nanoTime() - begin < most && !(isFailing && System.nanoTime() - failingSinceNanos > most)) {
      LockSupport.parkNanos(this, POLL_NANOS);
      // park returns at once while the interrupt flag is set.
      isInterrupted |= Thread.interrupted();
      isIn = ring.offer(event);
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    metrics.waits.incr();
    metrics.waitMillis.incr(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
    return isIn;
  }

  private void overflow(AuditEvent event) {
    metrics.overflows.incr();
    synchronized (lineOfOverflow) {
      OVERFLOW.warn("{}", lineOfOverflow.message(event));
    }
  }

  @Override
  public void run() {
    while (!isEnding) {
      boolean isWritten = writeAll(null);
      long wait = isWritten ? settings.flushMillis() : RETRY_MILLIS;
      // After a failure the ring is full, and each operation unparks this thread: that is no reason to retry earlier.
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(wait);
      do {
        LockSupport.parkNanos(this, Math.max(1, end - System.nanoTime()));
      } while (!isWritten && !isEnding && System.nanoTime() - end < 0);
    }
  }

  /**
   * Writes the ring's events, and then this one.
   *
   * @return false if not all could be written
   */
  private synchronized boolean writeAll(AuditEvent last) {
    isLastTaken = false;
    try {
      long millis = System.nanoTime() / 1_000_000;
      if (isFailing || millis - followedMillis >= FOLLOW_MILLIS) {
        followedMillis = millis;
        file.followName();
      }
      if (kept != null) {
        file.append(kept);
        kept = null;
        linesUncounted++;
      }
      // At the end, all events put so far must be in the file, even behind a place that is still being written.
      long claimed = isEnding ? ring.claimed() : 0;
      long deadline = System.nanoTime() + END_NANOS;
      for (AuditEvent event = ring.pollClaimed(claimed, deadline); event != null;
          event = ring.pollClaimed(claimed, deadline)) {
        append(event);
      }
      if (last != null) {
        isLastTaken = true;
        append(last);
      }
      file.flush();
      metrics.lines.incr(linesUncounted);
      linesUncounted = 0;
      metrics.bytes.incr(file.written() - bytesCounted);
      bytesCounted = file.written();
      if (isFailing) {
        isFailing = false;
        LOG.warn("audit lines are written to {} again", settings.file());
      }
      return true;
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      // The thread survives any failure: without it each operation would wait for the full time.
      failed(e);
      return false;
    }
  }

  private void append(AuditEvent event) throws IOException {
    byte[] bytes = line.bytes(event);
    kept = bytes;
    file.append(bytes);
    kept = null;
    linesUncounted++;
  }

  private void failed(Throwable e) {
    metrics.errors.incr();
    long millis = System.nanoTime() / 1_000_000;
    if (!isFailing) {
      failingSinceNanos = System.nanoTime();
      isFailing = true;
    }
    if (millis - reportedMillis >= REPORT_MILLIS) {
      reportedMillis = millis;
      LOG.error(
          "audit lines cannot be written to {}: {}; operations wait up to {} ms for a place in the ring of {} events,"
              + " later events go to the log {}",
          settings.file(), e.toString(), settings.blockMillisMax(), ring.capacity(), OVERFLOW.getName());
    }
  }

  /** Writes all events, and makes each later event's thread write it. */
  void end() {
    isEnding = true;
    LockSupport.unpark(thread);
    writeNow(null);
  }

  /** Writes the remaining events to the NameNode's own log, since the process ends. */
  private synchronized void giveUp() {
    String left = line.text(file.giveUp()) + (kept == null ? "" : line.text(kept));
    kept = null;
    linesUncounted = 0;
    left.lines().forEach(text -> {
      metrics.overflows.incr();
      OVERFLOW.warn("{}", AuditLine.message(text));
    });
    for (AuditEvent event = ring.poll(); event != null; event = ring.poll()) {
      overflow(event);
    }
  }

  AuditMetrics metrics() {
    return metrics;
  }
}
