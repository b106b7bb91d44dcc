import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.*;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.string.StringDecoder;
import io.netty.handler.codec.string.StringEncoder;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;

/** Gateway for meters: line protocol inside, legacy backend outside. */
public class DeviceGateway {
    static int backendPort;

    static class Backend {
        final Socket s;
        final BufferedReader in;

        Backend() throws Exception {
            s = new Socket("127.0.0.1", backendPort);
            s.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(s.getInputStream()));
        }

        String store(String reading) throws Exception {
            s.getOutputStream().write(("STORE " + reading + "\n").getBytes());
            return in.readLine();
        }
    }

    static class ReadingHandler extends SimpleChannelInboundHandler<String> {
        private Backend backend;

        @Override public void handlerAdded(ChannelHandlerContext c) throws Exception { backend = new Backend(); }

        @Override protected void channelRead0(ChannelHandlerContext c, String line) throws Exception {
            String[] f = line.split(" ");
            if (f.length < 3) {
                c.writeAndFlush("ERR\n");
                return;
            }
            String ack = backend.store(f[1] + "=" + f[2]);
            c.writeAndFlush("ACK " + ack.length() + "\n");
        }

        @Override public void channelInactive(ChannelHandlerContext c) throws Exception { backend.s.close(); }
    }

    public static void main(String[] a) throws Exception {
        backendPort = Integer.parseInt(a[1]);
        EventExecutorGroup side = a[2].equals("side") ? new DefaultEventExecutorGroup(16) : null;
        EventLoopGroup boss = new NioEventLoopGroup(1), io = new NioEventLoopGroup(1);
        new ServerBootstrap().group(boss, io).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override protected void initChannel(SocketChannel ch) {
                        ch.pipeline().addLast(new LineBasedFrameDecoder(256), new StringDecoder(), new StringEncoder());
                        if (side == null) ch.pipeline().addLast(new ReadingHandler());
                        else ch.pipeline().addLast(side, new ReadingHandler());
                    }
                })
                .childOption(ChannelOption.TCP_NODELAY, true)
                .bind("127.0.0.1", Integer.parseInt(a[0])).sync().channel().closeFuture().sync();
    }
}
