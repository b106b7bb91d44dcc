package org.yunti.hadoop.warm;

import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;
import org.apache.hadoop.mapreduce.protocol.ClientProtocolProvider;

/**
 * Hook into the submission of unmodified programs. Hadoop's client asks its providers in turn for a connection to the
 * cluster, with the settings of the job. This one adds the archives of classes to the settings and connects to nothing,
 * so Hadoop's own provider comes next.
 *
 * <p>It must come before Hadoop's provider: {@code yunti hadoop env} puts its name in a file {@code META-INF/services}
 * of the configuration directory, which is first on the class path of every Hadoop program.
 */
public final class WarmProvider extends ClientProtocolProvider {
  @Override
  public ClientProtocol create(Configuration conf) {
    WarmStart.apply(conf);
    return null;
  }

  @Override
  public ClientProtocol create(InetSocketAddress address, Configuration conf) {
    return create(conf);
  }

  @Override
  public void close(ClientProtocol client) {
    // It never made one.
  }
}
