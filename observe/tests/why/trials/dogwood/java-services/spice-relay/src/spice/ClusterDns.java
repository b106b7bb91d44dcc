package spice;

import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.*;
import java.net.*;
import java.util.List;
import okhttp3.Dns;

class ClusterDns implements Dns {
    private final DnsNameResolver resolver;

    ClusterDns(int port, int maxTtl) {
        DnsNameResolverBuilder names = new DnsNameResolverBuilder(new NioEventLoopGroup(1).next())
            .channelType(NioDatagramChannel.class)
            .nameServerProvider(new SingletonDnsServerAddressStreamProvider(new InetSocketAddress("127.0.0.1", port)))
            .resolvedAddressTypes(ResolvedAddressTypes.IPV4_ONLY)
            .searchDomains(List.of("shop.svc.cluster.example", "svc.cluster.example", "cluster.example"))
            .ndots(5);
        if (maxTtl > 0) names.ttl(0, maxTtl).negativeTtl(maxTtl);
        else names.resolveCache(NoopDnsCache.INSTANCE);
        resolver = names.build();
    }

    @Override
    public List<InetAddress> lookup(String host) throws UnknownHostException {
        try {
            return resolver.resolveAll(host).sync().getNow();
        } catch (Exception e) {
            throw new UnknownHostException(host);
        }
    }
}
