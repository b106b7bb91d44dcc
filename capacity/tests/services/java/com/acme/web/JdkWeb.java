package com.acme.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** Service on the HTTP server of the JDK, with a fixed pool of workers. */
public final class JdkWeb {
    private JdkWeb() {}

    public static void start(Options options, Page page) throws IOException {
        start(options, page, Executors.newFixedThreadPool(options.threads()));
    }

    public static void start(Options options, Page page, Executor workers) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", options.port()), 1024);
        server.createContext("/", exchange -> handle(exchange, page));
        server.setExecutor(workers);
        server.start();
        System.out.println("ready " + server.getAddress().getPort());
    }

    private static void handle(HttpExchange exchange, Page page) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            int status = 200;
            String text;
            try {
                text = page.answer(exchange.getRequestURI().getPath());
            } catch (Exception e) {
                status = 500;
                text = e.toString();
            }
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}
