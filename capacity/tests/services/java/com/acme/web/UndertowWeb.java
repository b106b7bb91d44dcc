package com.acme.web;

import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.Headers;
import java.net.InetSocketAddress;

/** Service in an embedded Undertow: one I/O thread, and workers that may block. */
public final class UndertowWeb {
    private UndertowWeb() {}

    public static void start(Options options, Page page) {
        Undertow server = Undertow.builder()
                .addHttpListener(options.port(), "127.0.0.1")
                .setIoThreads(1)
                .setWorkerThreads(options.threads())
                .setHandler(new BlockingHandler(exchange -> handle(exchange, page)))
                .build();
        server.start();
        InetSocketAddress address = (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
        System.out.println("ready " + address.getPort());
    }

    private static void handle(HttpServerExchange exchange, Page page) throws Exception {
        String text = page.answer(exchange.getRequestPath());
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain; charset=utf-8");
        exchange.getResponseSender().send(text);
    }
}
