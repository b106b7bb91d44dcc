package com.acme.status;

import com.sun.net.httpserver.*;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;

/** Shows the state of a company's systems on a page with few requests. */
public class StatusServer {
    enum State { UP, SLOW, DOWN }
    static final Map<String, State> systems = new ConcurrentSkipListMap<>();
    static final AtomicLong hits = new AtomicLong();

    static String page(String wanted) {
        StringBuilder sb = new StringBuilder("<html><body><table>");
        for (Map.Entry<String, State> e : systems.entrySet())
            if (wanted.isEmpty() || e.getKey().endsWith(wanted))
                sb.append("<tr><td>").append(e.getKey()).append("</td><td>").append(e.getValue()).append("</td></tr>");
        return sb.append("</table></body></html>").toString();
    }
    static void reply(HttpExchange x, int code, String body) throws java.io.IOException {
        byte[] b = body.getBytes(StandardCharsets.UTF_8);
        x.getResponseHeaders().set("Content-Type", "text/html");
        x.sendResponseHeaders(code, b.length);
        try (var o = x.getResponseBody()) { o.write(b); }
    }
    static void probe(Random r) {
        String[] all = systems.keySet().toArray(new String[0]);
        for (int i = 0; i < 5; i++) systems.put(all[r.nextInt(all.length)],
                State.values()[r.nextInt(10) < 8 ? 0 : 1 + r.nextInt(2)]);
    }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 120; i++) systems.put("system-" + i, State.UP);
        HttpServer http = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 50);
        http.createContext("/health", x -> { hits.incrementAndGet(); reply(x, 200, "ok"); });
        http.createContext("/status", x -> {
            hits.incrementAndGet();
            String q = x.getRequestURI().getQuery();
            reply(x, 200, page(q != null && q.startsWith("s=") ? q.substring(2) : ""));
        });
        http.setExecutor(Executors.newFixedThreadPool(8));
        http.start();
        System.out.println("listening " + http.getAddress().getPort());
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        Random r = new Random();
        timer.scheduleAtFixedRate(() -> probe(r), 1, 1, TimeUnit.SECONDS);
        for (int s = 0; s < 60; s++) { long b = hits.get(); Thread.sleep(2000);
            System.out.println("hits/s " + (hits.get() - b) / 2.0); }
        System.exit(0);
    }
}
