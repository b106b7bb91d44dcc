package org.yunti.web.bench.measure;

import java.io.OutputStream;

/** Takes bytes as a socket would, without keeping them: what a page costs is what it costs to have its bytes. */
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
