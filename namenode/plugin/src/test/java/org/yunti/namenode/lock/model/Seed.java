package org.yunti.namenode.lock.model;

/** Seeded fault of the model, which the checker must find. */
enum Seed {
  NONE,
  /** A reader checks the gate before it counts itself. */
  GATE_BEFORE_COUNT,
  /** The leader announces that it waits, and parks without another check of the slots. */
  DRAINS_WITHOUT_A_SECOND_LOOK,
  /** A reader that leaves does not wake the leader. */
  LEAVES_WITHOUT_WAKING,
  /** A reader that found the gate closed does not wake the leader when it uncounts itself. */
  GOES_BACK_WITHOUT_WAKING,
  /** A reader parks without another check of the gate after it was listed. */
  WAITS_WITHOUT_A_SECOND_LOOK,
  /** The list of readers is taken only before the gate opens. */
  NO_SECOND_GRANT,
  /** The list of readers is taken only after the gate opened, when the next leader may already check the slots. */
  GRANTS_AFTER_THE_TURN,
  /** A reader is let in without being counted. */
  LETS_IN_UNCOUNTED,
  /** A reader that gave up keeps its count. */
  KEEPS_THE_COUNT_OF_THE_GONE,
  /** With a kept gate, no thread checks if the next leader must wait. */
  KEEPS_WITHOUT_A_LOOK,
  /** With a kept gate, readers that leave do not know the next leader. */
  KEEPS_UNSEEN,
  /** A writer that keeps the read lock hands over to the next writer. */
  DOWNGRADE_HANDS_OVER,
  /** A writer that was called and gives up does not call the next. */
  GIVES_UP_THE_CALL,
  /** A writer that gives up as the last one at a free lock does not end the phase. */
  GIVES_UP_THE_PHASE,
  /** A leader that gives up leaves the gate closed. */
  LEADER_JUST_LEAVES,
  /** A writer that was called and found the lock taken is not called again. */
  STAYS_CALLED,
  /** The lock stays free after an overtake. */
  OVERTAKES_TWICE,
  /** Overtaking writers do not count as writers of the phase. */
  OVERTAKES_FOR_NOTHING,
  /** Overtakes are not counted. */
  OVERTAKES_WITHOUT_END,
  /** A phase of writers lasts while a writer waits. */
  WRITERS_WITHOUT_END
}
