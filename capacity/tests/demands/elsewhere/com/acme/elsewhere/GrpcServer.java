package com.acme.elsewhere;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * gRPC server whose messages are texts.
 *
 * <p>With the words {@code client PORT RATE} it calls one instead, this many times a second, each kind in turn.
 */
public final class GrpcServer {
    private static final String[] KINDS = {"Here", "Pool", "Timer"};

    private GrpcServer() {}

    private static final class Text implements MethodDescriptor.Marshaller<String> {
        @Override
        public InputStream stream(String text) {
            return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream bytes) {
            try {
                return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static MethodDescriptor<String, String> method(String kind) {
        return MethodDescriptor.<String, String>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(MethodDescriptor.generateFullMethodName("acme.Answers", kind))
                .setRequestMarshaller(new Text()).setResponseMarshaller(new Text()).build();
    }

    public static void main(String[] words) throws Exception {
        if (words.length > 0) {
            call(Integer.parseInt(words[1]), Double.parseDouble(words[2]));
            return;
        }
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder("acme.Answers");
        for (String kind : KINDS) {
            service.addMethod(method(kind), ServerCalls.asyncUnaryCall((request, observer) ->
                    Costs.answer("/" + kind.toLowerCase(java.util.Locale.ROOT), () -> {
                        observer.onNext("answer");
                        observer.onCompleted();
                    })));
        }
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .executor(Executors.newFixedThreadPool(4)).addService(service.build()).build().start();
        System.out.println("ready " + server.getPort());
        server.awaitTermination();
    }

    private static void call(int port, double rate) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
        ClientCalls.blockingUnaryCall(channel, method(KINDS[0]), CallOptions.DEFAULT, "ask");
        System.out.println("ready");
        long begin = System.nanoTime();
        for (int i = 0;; i++) {
            long wait = begin + (long) (i / rate * 1e9) - System.nanoTime();
            if (wait > 0) {
                Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
            }
            ClientCalls.futureUnaryCall(channel.newCall(method(KINDS[i % KINDS.length]), CallOptions.DEFAULT), "ask");
        }
    }
}
