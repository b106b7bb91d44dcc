package org.yunti.namenode.lock;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Counts of the readers inside, in slots on separate cache lines, so that readers share no written line.
 *
 * <p>A thread keeps one slot; several threads may share a slot.
 */
final class ReaderSlots {
  /** Ints between two slots: two cache lines, since processors fetch them in pairs. */
  private static final int STRIDE = 32;

  private final AtomicIntegerArray slots;
  private final int mask;
  private final AtomicInteger nextSlot = new AtomicInteger();

  ReaderSlots() {
    int count = Integer.highestOneBit(Math.max(1, Runtime.getRuntime().availableProcessors() * 4 - 1)) * 2;
    slots = new AtomicIntegerArray((count + 1) * STRIDE);
    mask = count - 1;
  }

  /** Returns the slot of a new thread. */
  int assign() {
    return ((nextSlot.getAndIncrement() & mask) + 1) * STRIDE;
  }

  // ---- protocol ----

  /** Counts a reader. */
  void enter(int slot) {
    slots.getAndIncrement(slot);
  }

  /** Uncounts a reader. */
  void leave(int slot) {
    slots.getAndDecrement(slot);
  }

  /** Returns true if no slot has a reader. Slots are read one after the other. */
  boolean isEmpty() {
    for (int slot = STRIDE; slot < slots.length(); slot += STRIDE) {
      if (slots.get(slot) != 0) {
        return false;
      }
    }
    return true;
  }

  // ---- state ----

  /** Returns the number of readers, for reports. */
  int sum() {
    int sum = 0;
    for (int slot = STRIDE; slot < slots.length(); slot += STRIDE) {
      sum += slots.get(slot);
    }
    return sum;
  }
}
