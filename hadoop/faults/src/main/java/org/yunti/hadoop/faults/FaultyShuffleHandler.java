package org.yunti.hadoop.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.apache.hadoop.mapred.ShuffleChannelHandlerContext;
import org.apache.hadoop.mapred.ShuffleHandler;

/**
 * Hadoop's ShuffleHandler behind a {@link FaultProxy}, whose port it announces to reducers. Its directory is the
 * setting {@code yunti.faults.directory}.
 */
public final class FaultyShuffleHandler extends ShuffleHandler {
  private static final String DIRECTORY = "yunti.faults.directory";

  private ShuffleChannelHandlerContext context;
  private FaultProxy proxy;

  @Override
  protected ShuffleChannelHandlerContext createHandlerContext() {
    context = super.createHandlerContext();
    return context;
  }

  @Override
  protected void serviceStart() throws Exception {
    super.serviceStart();
    proxy = new FaultProxy(super.getMetaData().getInt(), Path.of(getConfig().get(DIRECTORY)));
    // The hash of a request covers its URL, which has the port.
    context.port = proxy.port();
  }

  @Override
  protected void serviceStop() throws Exception {
    if (proxy != null) {
      proxy.close();
    }
    super.serviceStop();
  }

  @Override
  public synchronized ByteBuffer getMetaData() {
    try {
      return serializeMetaData(proxy.port());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
