package org.yunti.namenode.lock;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Tests of two threads, which two processors can run. */
public class PairStress {
  private PairStress() {}

  @JCStressTest
  @Description("A writer twice, and a reader twice.")
  @Outcome(id = "0, 0, 2", expect = Expect.ACCEPTABLE, desc = "both words together")
  @Outcome(expect = Expect.FORBIDDEN, desc = "the reader met the writer, or did not see its write")
  @State
  public static class WriterAndReader extends ExclusionStress.Guarded {
    public WriterAndReader() {
      super(Tuning.Preset.BALANCED);
    }

    @Actor
    public void writer() {
      write();
      write();
    }

    @Actor
    public void reader(III_Result r) {
      r.r1 = read();
      r.r2 = read();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = first;
    }
  }

  @JCStressTest
  @Description("Two writers, twice each: one is handed the lock, or overtakes, or leads.")
  @Outcome(id = "0, 4, 4", expect = Expect.ACCEPTABLE, desc = "all increments")
  @Outcome(expect = Expect.FORBIDDEN, desc = "two writers inside")
  @State
  public static class TwoWriters extends ExclusionStress.Guarded {
    public TwoWriters() {
      super(Tuning.Preset.BALANCED);
    }

    @Actor
    public void writer() {
      write();
      write();
    }

    @Actor
    public void otherWriter() {
      write();
      write();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r2 = first;
      r.r3 = second;
    }
  }

  @JCStressTest
  @Description("The owner of the write lock becomes a reader: the other writer does not enter in between.")
  @Outcome(id = {"1, 0, 2", "2, 0, 2"}, expect = Expect.ACCEPTABLE, desc = "its own write, before or after the other")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a writer entered during the read")
  @State
  public static class DowngradeAndWriter extends ExclusionStress.Guarded {
    public DowngradeAndWriter() {
      super(Tuning.Preset.BALANCED);
    }

    @Actor
    public void downgrading(III_Result r) {
      lock.writeLock().lock();
      increment();
      int written = first;
      lock.readLock().lock();
      lock.writeLock().unlock();
      r.r1 = first == written && second == written ? written : -1;
      lock.readLock().unlock();
    }

    @Actor
    public void writer() {
      write();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = first;
    }
  }

  @JCStressTest
  @Description("A writer waits for a reader, and gives up soon; the reader reads again afterwards, and must get in.")
  @Outcome(id = {"0, 0, 0", "0, 1, 1"}, expect = Expect.ACCEPTABLE, desc = "as many increments as successful calls")
  @Outcome(expect = Expect.FORBIDDEN, desc = "two inside, or the lock is not free at the end")
  @State
  public static class TimedWriterAndReader extends ExclusionStress.Guarded {
    private int count;

    public TimedWriterAndReader() {
      super(Tuning.Preset.THROUGHPUT);
    }

    @Actor
    public void writer() {
      count = GiveUpStress.write(this, 2_000);
    }

    @Actor
    public void reader(III_Result r) {
      r.r1 = read() + read() + read();
    }

    @Arbiter
    public void end(III_Result r) {
      boolean isFree = lock.getReadLockCount() == 0 && lock.waitingThreads() == 0 && lock.writeLock().tryLock();
      r.r2 = isFree ? first : -1;
      r.r3 = count;
    }
  }
}
