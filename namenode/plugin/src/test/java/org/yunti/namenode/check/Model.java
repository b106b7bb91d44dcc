package org.yunti.namenode.check;

/**
 * Protocol of a few threads as states and moves.
 *
 * <p>A state is an array of bytes and complete: equal states have the same future. A move is one atomic step of one
 * thread, or an event that happens to it.
 */
public interface Model {
  /** Returns the initial state. */
  byte[] initial();

  /** Returns the number of moves; moves have numbers from 0. */
  int moves();

  /**
   * Returns the state after a move, and leaves the given one unchanged.
   *
   * @return null if the move is not possible
   */
  byte[] after(byte[] state, int move);

  /** Returns false for a move that may never happen: an interrupt, the end of a timeout, a spurious wake-up. */
  boolean isProgress(int move);

  /** Returns true once all threads have finished. */
  boolean isOver(byte[] state);

  /** Returns the name of a fault in this state, or null. */
  String fault(byte[] state);

  /** Describes a move from this state, in one line. */
  String describe(byte[] state, int move);
}
