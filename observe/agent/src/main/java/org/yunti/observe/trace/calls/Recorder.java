package org.yunti.observe.trace.calls;

/**
 * Receiver of what changed methods report through {@link org.yunti.observe.trace.code.Hook}, on any thread. It throws
 * nothing and never blocks.
 */
public interface Recorder {
  /** Sets the first number of this trace. Numbers outside its range belong to another trace. */
  void setBase(int base);

  /**
   * Stops the recording of this thread while it does the agent's work.
   *
   * @return the argument for {@link #setBusy}
   */
  boolean markBusy();

  /** Restores the state before {@link #markBusy}. */
  void setBusy(boolean wasBusy);

  void enter(int id);

  void enter(Object object, int id);

  void exit(int id);

  void exit(Object value, int id);

  void thrown(Object error, int id);
}
