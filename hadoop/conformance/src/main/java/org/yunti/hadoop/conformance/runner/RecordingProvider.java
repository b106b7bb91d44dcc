package org.yunti.hadoop.conformance.runner;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ServiceLoader;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;
import org.apache.hadoop.mapreduce.protocol.ClientProtocolProvider;

/**
 * Stands between every job client in this JVM and the framework, local or YARN, and tells {@link JobRecorder}
 * which jobs are submitted. Programs that build their jobs inside main give no other way to their counters.
 *
 * <p>Hadoop takes the first provider that answers, in the order of the class path, so this one must come first;
 * it asks the others with the configuration as it is. A framework name of its own would be the alternative, but
 * it would change the configuration that the jobs see.
 */
public final class RecordingProvider extends ClientProtocolProvider {
  @Override
  public ClientProtocol create(Configuration conf) throws IOException {
    for (ClientProtocolProvider provider : ServiceLoader.load(ClientProtocolProvider.class)) {
      ClientProtocol client = provider instanceof RecordingProvider ? null : provider.create(conf);
      if (client != null) {
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
    // The counters are asked for after the job's client is closed. The providers of Hadoop close nothing but
    // the connection of a YARN client, which goes with this JVM.
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
