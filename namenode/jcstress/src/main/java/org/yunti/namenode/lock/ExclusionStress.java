package org.yunti.namenode.lock;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Plain fields that only the lock guards: each thread sees all writes before it, and none in part. */
public class ExclusionStress {
  private ExclusionStress() {}

  /** Two words that writers change in sequence. */
  @State
  public static class Guarded {
    final PhasedLock lock;
    int first;
    int second;

    Guarded(Tuning.Preset preset) {
      lock = new PhasedLock(preset);
    }

    final void write() {
      lock.writeLock().lock();
      increment();
      lock.writeLock().unlock();
    }

    final void increment() {
      first++;
      second++;
    }

    /** Returns the difference of the words: 0 unless a writer is inside too, or a write is not visible. */
    final int read() {
      lock.readLock().lock();
      int difference = first - second;
      lock.readLock().unlock();
      return difference;
    }
  }

  @JCStressTest
  @Description("Two writers and a reader: no increment is lost or seen in part.")
  @Outcome(id = "0, 2, 2", expect = Expect.ACCEPTABLE, desc = "both words together, both increments")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a writer was not alone, or its write was not visible")
  @State
  public static class TwoWritersAndAReader extends Guarded {
    public TwoWritersAndAReader() {
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
    public void reader(III_Result r) {
      r.r1 = read();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r2 = first;
      r.r3 = second;
    }
  }

  @JCStressTest
  @Description("Two readers and a writer, with a preset in which running writers go first.")
  @Outcome(id = "0, 0, 1", expect = Expect.ACCEPTABLE, desc = "both words together")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a reader was inside with the writer")
  @State
  public static class TwoReadersAndAWriter extends Guarded {
    public TwoReadersAndAWriter() {
      super(Tuning.Preset.THROUGHPUT);
    }

    @Actor
    public void writer() {
      write();
    }

    @Actor
    public void reader(III_Result r) {
      r.r1 = read();
    }

    @Actor
    public void otherReader(III_Result r) {
      r.r2 = read();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = first;
    }
  }

  @JCStressTest
  @Description("The owner of the write lock becomes a reader: no writer enters in between, and it reads its write.")
  @Outcome(
      id = {"1, 0, 2", "2, 0, 2"}, expect = Expect.ACCEPTABLE, desc = "its own write, before or after the other writer")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a writer entered during the read")
  @State
  public static class Downgrade extends Guarded {
    public Downgrade() {
      super(Tuning.Preset.BALANCED);
    }

    @Actor
    public void downgrading(III_Result r) {
      lock.writeLock().lock();
      increment();
      int written = first;
      lock.readLock().lock();
      lock.writeLock().unlock();
      // -1: another writer wrote in between.
      r.r1 = first == written && second == written ? written : -1;
      lock.readLock().unlock();
    }

    @Actor
    public void writer() {
      write();
    }

    @Actor
    public void reader(III_Result r) {
      r.r2 = read();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r3 = first;
    }
  }

  @JCStressTest
  @Description("A reader re-enters while writers wait.")
  @Outcome(id = "0, 2, 2", expect = Expect.ACCEPTABLE, desc = "the same value twice")
  @Outcome(expect = Expect.FORBIDDEN, desc = "a writer entered during the read")
  @State
  public static class ReadsAgain extends Guarded {
    public ReadsAgain() {
      super(Tuning.Preset.BALANCED);
    }

    @Actor
    public void reader(III_Result r) {
      lock.readLock().lock();
      int before = first;
      lock.readLock().lock();
      r.r1 = first - before + first - second;
      lock.readLock().unlock();
      lock.readLock().unlock();
    }

    @Actor
    public void writer() {
      write();
    }

    @Actor
    public void otherWriter() {
      write();
    }

    @Arbiter
    public void end(III_Result r) {
      r.r2 = first;
      r.r3 = second;
    }
  }
}
