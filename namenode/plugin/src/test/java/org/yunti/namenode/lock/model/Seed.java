package org.yunti.namenode.lock.model;

/** A mistake that the code could have, put into the model: the checker must find each. */
enum Seed {
  NONE,
  /** A reader looks at the gate, and counts itself afterwards. */
  GATE_BEFORE_COUNT,
  /** The leader says that it waits, and parks without another look at the slots. */
  DRAINS_WITHOUT_A_SECOND_LOOK,
  /** A reader that leaves does not wake the leader. */
  LEAVES_WITHOUT_WAKING,
  /** A reader that found the gate closed, and goes away, does not look whether the leader waits for it. */
  GOES_BACK_WITHOUT_WAKING,
  /** A reader parks without another look at the gate after it was entered in the list. */
  WAITS_WITHOUT_A_SECOND_LOOK,
  /** The list of readers is taken once, before the gate is opened. */
  NO_SECOND_GRANT,
  /** The list of readers is taken once, after the gate was opened, and counted when the next writer may already look. */
  GRANTS_AFTER_THE_TURN,
  /** A reader is let in without being counted. */
  LETS_IN_UNCOUNTED,
  /** A reader that went away keeps its count. */
  KEEPS_THE_COUNT_OF_THE_GONE,
  /** Where the gate is kept, nobody looks whether the next leader has somebody to wait for. */
  KEEPS_WITHOUT_A_LOOK,
  /** Where the gate is kept, readers that leave do not know of the next leader. */
  KEEPS_UNSEEN,
  /** A writer that keeps the read lock hands over to the next writer. */
  DOWNGRADE_HANDS_OVER,
  /** A writer that was called and gives up does not call the next. */
  GIVES_UP_THE_CALL,
  /** A writer that gives up as the last of a free lock does not end the phase. */
  GIVES_UP_THE_PHASE,
  /** A leader that gives up leaves the gate closed. */
  LEADER_JUST_LEAVES,
  /** A writer that was called, and found the lock taken, is not called again. */
  STAYS_CALLED,
  /** The lock stays free when somebody has overtaken. */
  OVERTAKES_TWICE,
  /** Writers that overtake are not counted against those of the phase. */
  OVERTAKES_FOR_NOTHING,
  /** Writers that overtake are not counted against the first that waits. */
  OVERTAKES_WITHOUT_END,
  /** Writers follow each other as long as one waits. */
  WRITERS_WITHOUT_END
}
