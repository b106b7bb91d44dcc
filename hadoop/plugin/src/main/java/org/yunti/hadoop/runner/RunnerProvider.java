package org.yunti.hadoop.runner;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;
import org.apache.hadoop.mapreduce.protocol.ClientProtocolProvider;

/**
 * Provider of the framework {@code yunti}: jobs run in this JVM, on all processors of this machine. Hadoop's client
 * finds it by {@code META-INF/services}.
 *
 * <pre>
 *   mapreduce.framework.name = yunti
 * </pre>
 */
public final class RunnerProvider extends ClientProtocolProvider {
  /** Name of the framework. The word "local" in it would make Hive and Pig treat it as LocalJobRunner. */
  public static final String FRAMEWORK = "yunti";

  @Override
  public ClientProtocol create(Configuration conf) throws IOException {
    if (!FRAMEWORK.equals(conf.get(MRConfig.FRAMEWORK_NAME))) {
      return null;
    }
    RunnerSettings.adjustClient(conf);
    return new RunnerClient(conf);
  }

  /** Forgets the jobs of this JVM, before it becomes another program. */
  public static void forgetJobs() {
    Jobs.forget();
  }

  @Override
  public ClientProtocol create(InetSocketAddress address, Configuration conf) {
    return null; // Only the JobTracker of Hadoop 1 had an address.
  }

  @Override
  public void close(ClientProtocol client) {
    // Jobs go on when their client is closed, as on a cluster.
  }
}
