package org.yunti.namenode.lock.model;

/**
 * Call of a thread of the model. {@code INTERRUPTIBLE} and {@code TIMED} are the code's {@code lock..Until}, without
 * and with a deadline.
 */
enum Call {
  LOCK_READ,
  LOCK_READ_INTERRUPTIBLE,
  LOCK_READ_TIMED,
  TRY_READ,
  UNLOCK_READ,
  LOCK_WRITE,
  LOCK_WRITE_INTERRUPTIBLE,
  LOCK_WRITE_TIMED,
  TRY_WRITE,
  UNLOCK_WRITE;

  boolean isTimed() {
    return this == LOCK_READ_TIMED || this == LOCK_WRITE_TIMED;
  }

  /** Returns true if the call may end without the lock after a wait. */
  boolean mayGiveUp() {
    return isTimed() || this == LOCK_READ_INTERRUPTIBLE || this == LOCK_WRITE_INTERRUPTIBLE;
  }
}
