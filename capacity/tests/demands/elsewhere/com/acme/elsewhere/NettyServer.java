package com.acme.elsewhere;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** HTTP server of Netty with two event loops. */
public final class NettyServer {
    private NettyServer() {}

    public static void main(String[] words) throws Exception {
        EventLoopGroup loops = new NioEventLoopGroup(2);
        Channel channel = new ServerBootstrap().group(new NioEventLoopGroup(1), loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel of) {
                        of.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16), new Answers());
                    }
                })
                .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        System.out.println("ready " + ((InetSocketAddress) channel.localAddress()).getPort());
        channel.closeFuture().sync();
    }

    private static final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            Costs.answer(request.uri(), () -> {
                FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
                        Unpooled.wrappedBuffer("answer\n".getBytes(StandardCharsets.UTF_8)));
                response.headers().set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
                context.writeAndFlush(response);
            });
        }
    }
}
