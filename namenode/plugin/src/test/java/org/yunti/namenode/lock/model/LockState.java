package org.yunti.namenode.lock.model;

import java.util.Arrays;

/**
 * State of a lock and its threads, in bytes. Threads and nodes of the list of readers have numbers from 1; 0 is none.
 *
 * <pre>
 *   shared | slots, one a thread | waiting writers, in order | writers in the order they came | nodes | threads
 * </pre>
 *
 * Fields that begin with SEEN belong to the checker: counts of past events, to check bounds.
 */
final class LockState {
  /** Shared fields; the first is a {@link Fault}, or 0. */
  static final int FAULT = 0;
  static final int IS_CLOSED = 1;
  static final int WAITING_READERS = 2;
  static final int DRAINING = 3;
  static final int OWNER = 4;
  static final int IS_WRITERS_PHASE = 5;
  static final int WRITERS_LEFT = 6;
  static final int IS_FREE = 7;
  static final int OVERTAKES = 8;
  private static final int SHARED = 9;

  /** Fields of a node. */
  static final int NODE_THREAD = 0;
  static final int NODE_STATE = 1;
  static final int NODE_NEXT = 2;
  /** Writers that had the lock since the reader began to wait. */
  static final int SEEN_WRITERS = 3;
  private static final int NODE = 4;

  static final int WAITING = 0;
  static final int LET_IN = 1;
  static final int GONE = 2;

  /** Fields of a thread: its next {@link Step}, its call in the script, its rounds through the script. */
  static final int STEP = 0;
  static final int CALL = 1;
  static final int ROUND = 2;
  /** Return addresses of methods. */
  static final int ENTER_FOR = 3;
  static final int LEAVE_FOR = 4;
  static final int EMPTY_FOR = 5;
  static final int END_FOR = 6;
  /** Locals. */
  static final int SLOT = 7;
  static final int OTHER = 8;
  static final int NODE_OWN = 9;
  static final int READERS = 10;
  static final int LATE = 11;
  static final int CURSOR = 12;
  static final int IS_INTERRUPTED = 13;
  static final int IS_LAST = 14;
  static final int TIME_ENDED = 15;
  /** {@code hold.count}, {@code writeHolds}. */
  static final int READS = 16;
  static final int WRITES = 17;
  static final int TURN = 18;
  static final int IS_CALLED = 19;
  /** State in the JVM: the permit of park, the interrupt flag, and whether the deadline is over. */
  static final int PERMIT = 20;
  static final int INTERRUPT = 21;
  static final int IS_OVER = 22;
  static final int INTERRUPTS_LEFT = 23;
  /** Writers that were before it on arrival; writers that arrived later and had the lock earlier. */
  static final int SEEN_BEFORE = 24;
  static final int SEEN_OVERTAKING = 25;
  private static final int THREAD = 26;

  static final int NOT_YET = 0;
  static final int HAS_IT = 1;
  static final int LEADS = 2;

  enum Fault {
    NONE,
    TWO_INSIDE,
    GATE_OPEN_FOR_A_WRITER,
    READER_WAITS_FOR_TOO_MANY_WRITERS,
    WRITER_OVERTAKEN_TOO_OFTEN,
    NOT_CLEAN_AT_THE_END,
    NEGATIVE_COUNT
  }

  final int threads;
  private final int nodes;
  final byte[] bytes;
  private final int queueAt;
  private final int cameAt;
  private final int nodesAt;
  private final int threadsAt;

  private LockState(int threads, byte[] bytes) {
    this.threads = threads;
    nodes = 2 * threads + 2;
    queueAt = SHARED + threads;
    cameAt = queueAt + threads;
    nodesAt = cameAt + threads;
    threadsAt = nodesAt + nodes * NODE;
    this.bytes = bytes != null ? bytes : new byte[threadsAt + threads * THREAD];
  }

  static LockState empty(int threads) {
    return new LockState(threads, null);
  }

  static LockState of(int threads, byte[] bytes) {
    return new LockState(threads, bytes);
  }

  LockState copy() {
    return new LockState(threads, bytes.clone());
  }

  int get(int field) {
    return bytes[field];
  }

  boolean is(int field) {
    return bytes[field] != 0;
  }

  void set(int field, int value) {
    bytes[field] = (byte) value;
  }

  void fault(Fault fault) {
    if (bytes[FAULT] == 0) {
      set(FAULT, fault.ordinal());
    }
  }

  int get(int thread, int field) {
    return bytes[threadsAt + (thread - 1) * THREAD + field];
  }

  boolean is(int thread, int field) {
    return get(thread, field) != 0;
  }

  void set(int thread, int field, int value) {
    bytes[threadsAt + (thread - 1) * THREAD + field] = (byte) value;
  }

  Step step(int thread) {
    return Step.of(get(thread, STEP));
  }

  void go(int thread, Step step) {
    set(thread, STEP, step.ordinal());
  }

  int slot(int number) {
    return bytes[SHARED + number];
  }

  void addToSlot(int number, int count) {
    bytes[SHARED + number] += (byte) count;
    if (bytes[SHARED + number] < 0) {
      fault(Fault.NEGATIVE_COUNT);
    }
  }

  // ---- waiting writers, and all writers in order of arrival: lists without a gap ----

  int waitingWriters() {
    return length(queueAt);
  }

  int firstWriter() {
    return bytes[queueAt];
  }

  void addWriter(int thread) {
    bytes[queueAt + length(queueAt)] = (byte) thread;
  }

  void removeWriter(int thread) {
    remove(queueAt, thread);
  }

  /** Records an arrival, with the number of writers before it. */
  void came(int thread) {
    int before = length(cameAt);
    bytes[cameAt + before] = (byte) thread;
    set(thread, SEEN_BEFORE, before);
  }

  /** Records that a writer has the lock: it overtook the earlier arrivals that wait. */
  void overtook(int thread, int overtakesMax) {
    for (int place = 0; place < threads && bytes[cameAt + place] != 0 && bytes[cameAt + place] != thread; place++) {
      int other = bytes[cameAt + place];
      int count = get(other, SEEN_OVERTAKING) + 1;
      set(other, SEEN_OVERTAKING, count);
      if (count > (get(other, SEEN_BEFORE) + 1) * overtakesMax) {
        fault(Fault.WRITER_OVERTAKEN_TOO_OFTEN);
      }
    }
    forget(thread);
  }

  void forget(int thread) {
    remove(cameAt, thread);
    set(thread, SEEN_BEFORE, 0);
    set(thread, SEEN_OVERTAKING, 0);
  }

  private int length(int at) {
    int length = 0;
    while (length < threads && bytes[at + length] != 0) {
      length++;
    }
    return length;
  }

  private void remove(int at, int thread) {
    for (int place = 0; place < threads; place++) {
      if (bytes[at + place] == thread) {
        System.arraycopy(bytes, at + place + 1, bytes, at + place, threads - 1 - place);
        bytes[at + threads - 1] = 0;
        return;
      }
    }
  }

  // ---- nodes of waiting readers ----

  int node(int node, int field) {
    return bytes[nodesAt + (node - 1) * NODE + field];
  }

  void setNode(int node, int field, int value) {
    bytes[nodesAt + (node - 1) * NODE + field] = (byte) value;
  }

  int newNode(int thread) {
    for (int node = 1; node <= nodes; node++) {
      if (node(node, NODE_THREAD) == 0) {
        setNode(node, NODE_THREAD, thread);
        return node;
      }
    }
    throw new IllegalStateException("the model has too few nodes");
  }

  /** Clears unreachable nodes, so that states that differ only in these are equal. */
  void collect() {
    boolean[] isReached = new boolean[nodes + 1];
    boolean[] isOwn = new boolean[nodes + 1];
    reach(isReached, get(WAITING_READERS));
    for (int thread = 1; thread <= threads; thread++) {
      isOwn[get(thread, NODE_OWN)] = true;
      reach(isReached, get(thread, READERS));
      reach(isReached, get(thread, LATE));
      reach(isReached, get(thread, CURSOR));
    }
    for (int node = 1; node <= nodes; node++) {
      if (!isReached[node] && isOwn[node]) {
        // Its waiting reader reads only its state.
        setNode(node, NODE_NEXT, 0);
      } else if (!isReached[node]) {
        int at = nodesAt + (node - 1) * NODE;
        Arrays.fill(bytes, at, at + NODE, (byte) 0);
      }
    }
  }

  private void reach(boolean[] isReached, int first) {
    for (int node = first; node != 0; node = node(node, NODE_NEXT)) {
      isReached[node] = true;
    }
  }

  // ---- states that differ only in names ----

  /**
   * Returns an equivalent state with canonical names: nodes in the order of their discovery, threads with one script by
   * their fields.
   *
   * @param groups group of each thread; threads of a group are interchangeable
   * @param isSlotShared true if all threads count in the first slot
   */
  LockState named(int[] groups, boolean isSlotShared) {
    int[] order = new int[threads];
    // A thread within a scan of the slots distinguishes them, so threads are not interchangeable then.
    boolean isMovable = true;
    for (int thread = 1; thread <= threads; thread++) {
      isMovable &= get(thread, SLOT) == 0;
    }
    for (int place = 0; place < threads; place++) {
      int thread = place + 1;
      int at = place;
      for (;
          isMovable && at > 0 && groups[order[at - 1] - 1] == groups[thread - 1] && compare(thread, order[at - 1]) < 0;
          at--) {
        order[at] = order[at - 1];
      }
      order[at] = thread;
    }
    byte[] name = new byte[threads + 1];
    for (int place = 0; place < threads; place++) {
      name[order[place]] = (byte) (place + 1);
    }
    LockState s = empty(threads);
    System.arraycopy(bytes, 0, s.bytes, 0, SHARED);
    s.set(DRAINING, name[get(DRAINING)]);
    s.set(OWNER, name[get(OWNER)]);
    byte[] nodeName = new byte[nodes + 1];
    s.set(WAITING_READERS, rename(s, get(WAITING_READERS), name, nodeName));
    for (int place = 0; place < threads; place++) {
      int from = order[place];
      int to = place + 1;
      s.bytes[SHARED + place] = bytes[SHARED + (isSlotShared ? place : from - 1)];
      s.bytes[queueAt + place] = name[bytes[queueAt + place]];
      s.bytes[cameAt + place] = name[bytes[cameAt + place]];
      System.arraycopy(bytes, threadsAt + (from - 1) * THREAD, s.bytes, threadsAt + place * THREAD, THREAD);
      s.set(to, OTHER, name[get(from, OTHER)]);
      s.set(to, READERS, rename(s, get(from, READERS), name, nodeName));
      s.set(to, LATE, rename(s, get(from, LATE), name, nodeName));
      s.set(to, CURSOR, rename(s, get(from, CURSOR), name, nodeName));
    }
    for (int place = 0; place < threads; place++) {
      s.set(place + 1, NODE_OWN, rename(s, get(order[place], NODE_OWN), name, nodeName));
    }
    return s;
  }

  /** Renames the nodes of a list that have no new name yet. */
  private int rename(LockState s, int first, byte[] name, byte[] nodeName) {
    for (int node = first; node != 0 && nodeName[node] == 0; node = node(node, NODE_NEXT)) {
      int to = ++nodeName[0];
      nodeName[node] = (byte) to;
      s.setNode(to, NODE_THREAD, name[node(node, NODE_THREAD)]);
      s.setNode(to, NODE_STATE, node(node, NODE_STATE));
      s.setNode(to, SEEN_WRITERS, node(node, SEEN_WRITERS));
    }
    for (int node = first; node != 0; node = node(node, NODE_NEXT)) {
      int next = node(node, NODE_NEXT);
      s.setNode(nodeName[node], NODE_NEXT, next == 0 ? 0 : nodeName[next]);
    }
    return first == 0 ? 0 : nodeName[first];
  }

  private int compare(int one, int two) {
    int a = threadsAt + (one - 1) * THREAD;
    int b = threadsAt + (two - 1) * THREAD;
    int compared = Arrays.compare(bytes, a, a + THREAD, bytes, b, b + THREAD);
    return compared != 0 ? compared : Byte.compare(bytes[SHARED + one - 1], bytes[SHARED + two - 1]);
  }

  /** Counts a writer that has the lock for each reader that waits. */
  void countForReaders(int writersMax) {
    for (int node = 1; node <= nodes; node++) {
      if (node(node, NODE_THREAD) != 0 && node(node, NODE_STATE) == WAITING) {
        int count = node(node, SEEN_WRITERS) + 1;
        setNode(node, SEEN_WRITERS, count);
        if (count > writersMax) {
          fault(Fault.READER_WAITS_FOR_TOO_MANY_WRITERS);
        }
      }
    }
  }
}
