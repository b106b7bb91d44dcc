package org.yunti.namenode.audit;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes events out of the ring, and writes their lines: one thread, which looks each few milliseconds, or when it is called because the ring gets full. Nobody
 * wakes it for one event.
 */
final class AuditWriter implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(RingAuditLogger.class);
  /** Full events, of which the NameNode's own log has the line where the file could not have it. */
  private static final Logger OVERFLOW = LoggerFactory.getLogger(RingAuditLogger.class.getName() + ".overflow");
  private static final long TRY_AGAIN_MILLIS = 500;
  private static final long FOLLOW_MILLIS = 1000;
  private static final long TELL_AGAIN_MILLIS = 60_000;
  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final AuditSettings settings;
  private final EventRing ring;
  private final AuditMetrics metrics;
  private final AuditLine line;
  private final AuditLine lineOfOverflow;
  private final RollingFile file;
  private final Thread thread;
  /** Taken, and not yet in the file's buffer, which could not be written. Of who writes. */
  private byte[] kept;
  /** Lines in the file's buffer, which are counted when they are in the file. */
  private long linesUntold;
  private long bytesTold;
  /** Of the event behind the ring, that its line was made. */
  private boolean isLastTaken;
  private long followedMillis;
  private long toldMillis = -TELL_AGAIN_MILLIS;
  /** The file cannot be written; since when. */
  private volatile long failingSinceNanos;
  private volatile boolean isFailing;
  /** The process ends: who has an event writes it, and returns when it is written. */
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

  /** Returns when the event has its place: in the ring, or, after a time, in the NameNode's own log. */
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
      // What was written last may have been written before this was put.
      writeNow(null);
    } else if (ring.size() > ring.capacity() / 2) {
      LockSupport.unpark(thread);
    }
  }

  /** What is in the ring, and this: in the file, or in the NameNode's own log, when it returns. */
  private synchronized void writeNow(AuditEvent event) {
    // A channel is closed under whoever writes and is interrupted.
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
    // A file that could not be written for so long already is not waited for by each operation anew.
    while (!isIn && System.nanoTime() - begin < most && !(isFailing && System.nanoTime() - failingSinceNanos > most)) {
      LockSupport.parkNanos(this, LOOK_NANOS);
      // Who is interrupted is not parked any more, and would spin.
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
      long wait = isWritten ? settings.flushMillis() : TRY_AGAIN_MILLIS;
      // Since a failure the ring is full, and whoever finds it so calls: that is no reason to try sooner.
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(wait);
      do {
        LockSupport.parkNanos(this, Math.max(1, end - System.nanoTime()));
      } while (!isWritten && !isEnding && System.nanoTime() - end < 0);
    }
  }

  /**
   * Writes what is in the ring, and this event behind it.
   *
   * @return false: not all could be written
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
        linesUntold++;
      }
      // At the end all that were put before are in the file when this returns, also those behind a place that is just being written.
      long claimed = isEnding ? ring.claimed() : 0;
      long deadline = System.nanoTime() + END_NANOS;
      for (AuditEvent event = ring.pollClaimed(claimed, deadline); event != null; event = ring.pollClaimed(claimed, deadline)) {
        append(event);
      }
      if (last != null) {
        isLastTaken = true;
        append(last);
      }
      file.flush();
      metrics.lines.incr(linesUntold);
      linesUntold = 0;
      metrics.bytes.incr(file.written() - bytesTold);
      bytesTold = file.written();
      if (isFailing) {
        isFailing = false;
        LOG.warn("audit lines are written to {} again", settings.file());
      }
      return true;
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      // Whatever it is: without this thread each operation would wait, for ever, as long as it may.
      failed(e);
      return false;
    }
  }

  private void append(AuditEvent event) throws IOException {
    byte[] bytes = line.bytes(event);
    kept = bytes;
    file.append(bytes);
    kept = null;
    linesUntold++;
  }

  private void failed(Throwable e) {
    metrics.errors.incr();
    long millis = System.nanoTime() / 1_000_000;
    if (!isFailing) {
      failingSinceNanos = System.nanoTime();
      isFailing = true;
    }
    if (millis - toldMillis >= TELL_AGAIN_MILLIS) {
      toldMillis = millis;
      LOG.error(
          "audit lines cannot be written to {}: {}; operations wait up to {} ms for a place among {} events, what comes after that goes to the log {}",
          settings.file(), e.toString(), settings.blockMillisMax(), ring.capacity(), OVERFLOW.getName());
    }
  }

  /** All that was put is written, and from now on each by who puts it. */
  void end() {
    isEnding = true;
    LockSupport.unpark(thread);
    writeNow(null);
  }

  /** To the NameNode's own log with all that the file does not take: the process ends. */
  private synchronized void giveUp() {
    String left = line.text(file.giveUp()) + (kept == null ? "" : line.text(kept));
    kept = null;
    linesUntold = 0;
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
