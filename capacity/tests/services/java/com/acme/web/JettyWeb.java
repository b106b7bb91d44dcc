package com.acme.web;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Service in an embedded Jetty. */
public final class JettyWeb {
    /** Threads that Jetty keeps for itself: an acceptor, a selector and a reserved one. */
    private static final int OWN_THREADS = 3;

    private JettyWeb() {}

    public static void start(Options options, Page page) throws Exception {
        int threads = options.threads() + OWN_THREADS;
        Server server = new Server(new QueuedThreadPool(threads, threads));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        connector.setPort(options.port());
        server.addConnector(connector);
        server.setHandler(new PageHandler(page));
        server.start();
        System.out.println("ready " + connector.getLocalPort());
    }

    private static final class PageHandler extends Handler.Abstract {
        private final Page page;

        PageHandler(Page page) {
            this.page = page;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            byte[] body = page.answer(Request.getPathInContext(request)).getBytes(StandardCharsets.UTF_8);
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/plain; charset=utf-8");
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
            response.write(true, ByteBuffer.wrap(body), callback);
            return true;
        }
    }
}
