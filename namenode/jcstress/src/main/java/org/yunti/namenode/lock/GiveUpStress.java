package org.yunti.namenode.lock;

import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Some threads give up after a very short time, or do not wait. The others must still be woken: otherwise the test does
 * not end, which jcstress reports. A thread whose call succeeds must have the lock.
 */
public class GiveUpStress {
  private GiveUpStress() {}

  /** Increments as a writer that waits at most this long. Returns the number of increments. */
  static int write(ExclusionStress.Guarded guarded, long nanos) {
    try {
      boolean hasIt = nanos == 0 ? guarded.lock.writeLock().tryLock()
                                 : guarded.lock.writeLock().tryLock(nanos, TimeUnit.NANOSECONDS);
      if (!hasIt) {
        return 0;
      }
    } catch (InterruptedException e) {
      return -1;
    }
    guarded.increment();
    guarded.lock.writeLock().unlock();
    return 1;
  }

  /** Reads, or gives up. Returns 0 unless it met a writer. */
  private static int read(ExclusionStress.Guarded guarded, long nanos) {
    try {
      if (!guarded.lock.readLock().tryLock(nanos, TimeUnit.NANOSECONDS)) {
        return 0;
      }
    } catch (InterruptedException e) {
      return -1;
    }
    int difference = guarded.first - guarded.second;
    guarded.lock.readLock().unlock();
    return difference;
  }

  /** Returns 0 if no thread has the lock or waits for it, and it can be taken. */
  private static int left(PhasedLock lock) {
    boolean isFree = lock.getReadLockCount() == 0 && lock.waitingThreads() == 0 && !lock.isWriteLocked()
        && lock.writeLock().tryLock();
    return isFree ? 0 : -1;
  }

  @JCStressTest
  @Description("A writer waits, one gives up soon, one does not wait, and a reader waits.")
  @Outcome(id = {"1, 0, 0, 0", "2, 0, 0, 0", "3, 0, 0, 0"}, expect = Expect.ACCEPTABLE,
      desc = "an increment for each writer that had the lock")
  @Outcome(expect = Expect.FORBIDDEN, desc = "two inside, or the lock is not free at the end")
  @State
  public static class WritersGiveUp extends ExclusionStress.Guarded {
    private int timed;
    private int tried;

    public WritersGiveUp() {
      super(Tuning.Preset.BALANCED);
    }

    @Actor
    public void writer() {
      write();
    }

    @Actor
    public void timed() {
      timed = GiveUpStress.write(this, 5_000);
    }

    @Actor
    public void tried() {
      tried = GiveUpStress.write(this, 0);
    }

    @Actor
    public void reader(IIII_Result r) {
      r.r2 = read();
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r1 = first;
      r.r3 = first - 1 - timed - tried;
      r.r4 = left(lock);
    }
  }

  @JCStressTest
  @Description("Two writers wait, one reader gives up soon, and one waits.")
  @Outcome(id = "2, 0, 0, 0", expect = Expect.ACCEPTABLE, desc = "both writers entered, and readers met none")
  @Outcome(expect = Expect.FORBIDDEN, desc = "two inside, or the lock is not free at the end")
  @State
  public static class ReadersGiveUp extends ExclusionStress.Guarded {
    public ReadersGiveUp() {
      super(Tuning.Preset.BALANCED);
    }

    @Actor
    public void writer() {
      write();
    }

    @Actor
    public void otherWriter() {
      write();
    }

    @Actor
    public void timed(IIII_Result r) {
      r.r2 = GiveUpStress.read(this, 5_000);
    }

    @Actor
    public void reader(IIII_Result r) {
      r.r3 = read();
    }

    @Arbiter
    public void end(IIII_Result r) {
      r.r1 = first;
      r.r4 = left(lock);
    }
  }
}
