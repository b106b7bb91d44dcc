package org.yunti.table;

import org.yunti.table.memory.Access;

/** Choices of {@link SharedTable#open}. Each method returns a changed copy. */
public final class Options {
  private static final Options USUAL = new Options(Access.BEST, false);

  private final Access access;
  private final boolean isVerified;

  private Options(Access access, boolean isVerified) {
    this.access = access;
    this.isVerified = isVerified;
  }

  /** Returns the usual choices: the fastest access, and blocks that are checked at their first use. */
  public static Options usual() {
    return USUAL;
  }

  /** Sets how the bytes are read. Leave it alone but for measurements. */
  public Options access(Access access) {
    return new Options(access, isVerified);
  }

  /** Sets that opening checks all of the file, which also brings it into memory. Lookups are then without delays. */
  public Options verified(boolean isVerified) {
    return new Options(access, isVerified);
  }

  Access access() {
    return access;
  }

  boolean isVerified() {
    return isVerified;
  }
}
