package org.yunti.hadoop.conformance.runner;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ServiceLoader;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;
import org.apache.hadoop.mapreduce.protocol.ClientProtocolProvider;

/**
 * Provider between every job client in this JVM and the framework, local or YARN. It passes submitted jobs to {@link
 * JobRecorder}; for programs that build their jobs inside main, this is the only way to their counters.
 *
 * <p>Hadoop takes the first provider on the class path that accepts the configuration, so this one must be first. It
 * delegates to the others with the unchanged configuration. Rejected: a framework name of its own, because jobs would
 * see another configuration.
 */
public final class RecordingProvider extends ClientProtocolProvider {
  @Override
  public ClientProtocol create(Configuration conf) throws IOException {
    for (ClientProtocolProvider provider : ServiceLoader.load(ClientProtocolProvider.class)) {
      ClientProtocol client = provider instanceof RecordingProvider ? null : provider.create(conf);
      if (client != null) {
        if ("yunti".equals(conf.get(MRConfig.FRAMEWORK_NAME))) {
          // LocalJobRunner's client overwrites the number of maps that a program asked for.
          conf.setInt(MRJobConfig.NUM_MAPS, 1);
        }
        return recorded(client);
      }
    }
    return null;
  }

  @Override
  public ClientProtocol create(InetSocketAddress address, Configuration conf) {
    return null; // Only the JobTracker of Hadoop 1 had an address.
  }

  @Override
  public void close(ClientProtocol client) {
    // Counters are requested after the job's client is closed. Hadoop's providers close only the connection of a YARN
    // client, which ends with this JVM.
  }

  private static ClientProtocol recorded(ClientProtocol client) {
    return (ClientProtocol) Proxy.newProxyInstance(RecordingProvider.class.getClassLoader(),
        new Class<?>[] {ClientProtocol.class}, (proxy, method, arguments) -> {
          if (method.getName().equals("submitJob")) {
            JobRecorder.submitted(client, (JobID) arguments[0], (String) arguments[1]);
          }
          try {
            return method.invoke(client, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }
}
