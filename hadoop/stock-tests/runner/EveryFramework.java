import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.protocol.ClientProtocol;
import org.apache.hadoop.mapreduce.protocol.ClientProtocolProvider;
import org.yunti.hadoop.runner.RunnerProvider;

/**
 * Provider that answers for {@code local} and {@code yarn} too, which many of Hadoop's tests set themselves. It is the
 * first one on the class path.
 */
public final class EveryFramework extends ClientProtocolProvider {
  private final RunnerProvider runner = new RunnerProvider();

  @Override
  public ClientProtocol create(Configuration conf) throws IOException {
    conf.set(MRConfig.FRAMEWORK_NAME, RunnerProvider.FRAMEWORK);
    return runner.create(conf);
  }

  @Override
  public ClientProtocol create(InetSocketAddress address, Configuration conf) throws IOException {
    return create(conf);
  }

  @Override
  public void close(ClientProtocol client) {
    runner.close(client);
  }
}
