package org.yunti.table.format;

/** A section's place in the file. */
public final class Place {
  public final long begin;
  public final long bytes;

  Place(long begin, long bytes) {
    this.begin = begin;
    this.bytes = bytes;
  }

  public long end() {
    return begin + bytes;
  }
}
