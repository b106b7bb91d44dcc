package org.yunti.namenode.check;

/**
 * A protocol of a few threads as states and moves. A state is some bytes, and all there is: two that are equal have the same future. A move is one step of one
 * thread that the others cannot look into, or something that happens to it.
 */
public interface Model {
  byte[] initial();

  /** Moves have numbers from 0 to this, excluded. */
  int moves();

  /**
   * The state after a move; the one given is not changed.
   *
   * @return null: it is not possible here
   */
  byte[] after(byte[] state, int move);

  /** False: it happens or does not (an interrupt, the end of a time, a wake-up without reason), and nobody may count on it. */
  boolean isProgress(int move);

  /** All threads have done what they were to do. */
  boolean isOver(byte[] state);

  /** What must never be. Null: all is well. */
  String fault(byte[] state);

  /** One line for a person: what the move from this state is. */
  String told(byte[] state, int move);
}
