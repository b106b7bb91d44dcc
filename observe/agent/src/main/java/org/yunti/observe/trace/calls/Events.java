package org.yunti.observe.trace.calls;

import java.util.List;
import org.yunti.observe.trace.objects.Objects;
import org.yunti.observe.trace.objects.RequestNames;
import org.yunti.observe.trace.objects.Way;

/**
 * Recorder of events at places: requests and tasks that begin and end, locks and pools that are taken and given back.
 * A changed method reports each through {@link Recorder#enter}, with the object that it is about. It throws nothing and
 * never blocks.
 *
 * <p>An object that is taken too often, and a place that is passed too often, is turned off: its events would cost the
 * service more than they say.
 */
public final class Events extends Recording<ThreadEvents> {
  /** Trait of a place whose objects need no description: tasks and requests. */
  public static final int PLAIN = 1;
  /** Trait of a place at which a thread's allocation is counted: begins and ends of requests and tasks. */
  public static final int COUNTED = 2;
  /** Trait of a place at which a task begins. */
  public static final int BEGIN = 4;
  /** Trait of a place after which a thread sends its events: ends of requests and tasks. */
  public static final int END = 8;
  /** Trait of a place whose object has a request's name. */
  public static final int NAME = 16;
  /** Trait of a place whose object is a number of units. */
  public static final int UNITS = 32;

  private static final int NUMBERS = 1 << 16;
  /** Events of one place in a second from which on it is turned off. */
  private static final int OFTEN = 200_000;
  private static final int NANOS_PER_CHECK = 200_000_000;

  private final Objects objects;
  /** Events of each place since the last check. Lost increments do not matter. */
  private final int[] counts = new int[NUMBERS];
  private final boolean[] isOff = new boolean[NUMBERS];
  /** Traits of each place, as a sum. */
  private final byte[] traits = new byte[NUMBERS];
  private final RequestNames names = new RequestNames(ThreadEvents.TEXT_MAX);
  private final Allocation allocation = Allocation.find();
  /** Ways from objects to what is taken. */
  private final Way[] ways = new Way[NUMBERS];
  /** Place at which the pool of a worker is reported. */
  private int workerPools;
  private long checkedAt = System.nanoTime();

  public Events(Objects objects) {
    super(new Threads.Maker<>() {
      @Override
      public ThreadEvents make(Thread thread, MemoryBudget budget) {
        return new ThreadEvents(thread, budget);
      }
    });
    this.objects = objects;
  }

  /** Adds traits to those of a place. */
  public void mark(int number, int more) {
    traits[number] |= (byte) more;
  }

  /** Sets the way from the objects of a place to what is taken there. The place reports pairs if it has a key. */
  public void setWay(int number, Way way) {
    ways[number] = way;
  }

  /** Sets the place at which the pool of a worker of a ForkJoinPool is reported. */
  public void setWorkerPools(int number) {
    workerPools = number;
  }

  /** Calls everything here once, on the agent's thread, which records nothing from now on. */
  public void warmUp() {
    ThreadEvents mine = threads.findOrMake();
    traits[0] = END | COUNTED | NAME;
    enter(0);
    enter(new Object(), 0);
    enter("name", 0);
    traits[0] = END | COUNTED;
    Object object = List.of(this);
    for (int i = 0; i < Objects.KNOWN_FROM; i++) {
      enter(object, 0);
    }
    ways[0] = new Way("iterator", "iterator");
    enter(new Object[] {object, object}, 0);
    ways[0] = null;
    traits[0] = 0;
    exit(0);
    exit(this, 0);
    thrown(this, 0);
    setBusy(markBusy());
    mine.rest();
    mine.leaveIfDead(ring);
    ring.take();
    counts[0] = 0;
    mine.setBusy(true);
  }

  // ---- from changed methods ----

  @Override
  public void enter(int id) {
    event(null, id);
  }

  @Override
  public void enter(Object object, int id) {
    event(object, id);
  }

  @Override
  public void exit(int id) {}

  @Override
  public void exit(Object value, int id) {}

  @Override
  public void thrown(Object error, int id) {}

  private void event(Object object, int id) {
    int number = number(id);
    if (number < 0 || number >= NUMBERS || isOff[number]) {
      return;
    }
    counts[number]++;
    try {
      ThreadEvents mine = threads.findOrMake();
      if (mine == null) {
        withoutPlace.incrementAndGet();
        return;
      }
      if (mine.isBusy() || mine.isCarrier) {
        return;
      }
      long now = System.nanoTime();
      int traits = this.traits[number];
      if ((traits & NAME) != 0) {
        addName(mine, now, object, number);
        return;
      }
      if ((traits & BEGIN) != 0 && mine.pool != null) {
        add(mine, now, workerPools, mine.pool, null);
      }
      Way way = ways[number];
      if ((traits & UNITS) != 0) {
        mine.add(this, now, (long) number << 32 | (int) object & 0xffff_ffffL);
      } else if (way == null) {
        add(mine, now, number, object, null);
      } else {
        addByWay(mine, now, number, object, way);
      }
      if ((traits & COUNTED) != 0 && allocation != null) {
        mine.add(this, allocation.ofThisThread(), (long) ThreadEvents.ALLOCATED << 32);
      }
      if ((traits & END) != 0) {
        mine.flush(ring);
        mine.leaveIfVirtual();
      }
    } catch (Throwable e) {
      // Without memory or stack, the event is not recorded.
    }
  }

  private void addName(ThreadEvents mine, long now, Object object, int number) {
    mine.setBusy(true);
    try {
      byte[] name = names.of(object);
      mine.addText(this, now, (long) number << 32, name);
    } finally {
      mine.setBusy(false);
    }
  }

  private void addByWay(ThreadEvents mine, long now, int number, Object object, Way way) {
    mine.setBusy(true);
    Object owner;
    Object key;
    try {
      Object[] pair = object instanceof Object[] both ? both : new Object[] {object, null};
      owner = way.owner(pair[0]);
      key = pair[1] == null ? null : way.key(pair[1]);
    } finally {
      mine.setBusy(false);
    }
    add(mine, now, number, owner, key);
  }

  private void add(ThreadEvents mine, long now, int number, Object object, Object key) {
    int identity = object == null ? 0 : System.identityHashCode(object);
    if (key != null) {
      mine.setBusy(true);
      try {
        identity = identity * 31 + key.hashCode() | 1;
      } finally {
        mine.setBusy(false);
      }
    }
    if (object != null && (traits[number] & PLAIN) == 0) {
      int slot = objects.count(identity);
      if (slot >= 0) {
        if (objects.isOff(slot)) {
          return;
        }
        if (objects.isNew(slot)) {
          mine.setBusy(true);
          try {
            objects.add(object, key, identity, slot, number);
          } finally {
            mine.setBusy(false);
          }
        }
      }
    }
    mine.add(this, now, (long) number << 32 | identity & 0xffff_ffffL);
  }

  // ---- from the agent's thread ----

  /** Turns places and objects off that are passed too often, and forgets threads that have ended. */
  public void tick(Objects.Off off) {
    long now = System.nanoTime();
    if (now - checkedAt > NANOS_PER_CHECK) {
      double seconds = (now - checkedAt) * 1e-9;
      checkedAt = now;
      for (int i = 0; i < NUMBERS; i++) {
        if (counts[i] > OFTEN * seconds && !isOff[i]) {
          isOff[i] = true;
          off.accept("place " + i + ": it is passed too often");
        }
        counts[i] = 0;
      }
      objects.check(seconds, off);
    }
    sweep(now);
  }

  /** Sends the events that threads have kept. Call it when recording has ended. */
  public void rest(Calls.Chunk each) {
    threads.forEach(it -> {
      long[] chunk = it.rest();
      if (chunk != null) {
        each.accept(chunk, 0, chunk.length);
      }
    });
  }
}
