package org.yunti.web.bench.measure;

import java.io.OutputStream;

/** Sink that accepts bytes as a socket does, without keeping them, so the result is the cost of the page's bytes. */
public final class Sink extends OutputStream {
  private long count;

  @Override
  public void write(int b) {
    count++;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    count += length + (length > 0 ? bytes[offset + length - 1] & 0 : 0);
  }

  public long count() {
    return count;
  }
}
