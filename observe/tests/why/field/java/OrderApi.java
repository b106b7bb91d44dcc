package com.acme.orders;

import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Answers requests for the state of orders, which it looks up in a database over pooled connections. */
public class OrderApi {
    static final class DbConnection implements Closeable {
        private final Socket s; private final BufferedReader in; private final OutputStream out;
        DbConnection(int port) throws IOException {
            s = new Socket("127.0.0.1", port);
            s.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(s.getInputStream(), StandardCharsets.US_ASCII));
            out = s.getOutputStream();
        }
        String query(String q) throws IOException {
            out.write((q + "\n").getBytes(StandardCharsets.US_ASCII));
            return in.readLine();
        }
        @Override public void close() throws IOException { s.close(); }
    }
    static final class ConnectionPool {
        private final ArrayBlockingQueue<DbConnection> idle;
        ConnectionPool(int port, int max) throws IOException {
            idle = new ArrayBlockingQueue<>(max);
            for (int i = 0; i < max; i++) idle.add(new DbConnection(port));
        }
        DbConnection borrow() throws InterruptedException {
            DbConnection c = idle.poll(30, TimeUnit.SECONDS);
            if (c == null) throw new IllegalStateException("no connection within 30 s");
            return c;
        }
        void giveBack(DbConnection c) { idle.offer(c); }
    }
    static final LongAdder served = new LongAdder(), nanos = new LongAdder();

    static String status(ConnectionPool pool, int order) throws Exception {
        DbConnection c = pool.borrow();
        String row;
        try { row = c.query("SELECT state FROM orders WHERE id=" + order); } finally { pool.giveBack(c); }
        StringBuilder sb = new StringBuilder("{\"order\":").append(order);
        for (String f : row.split(" "))
            if (f.indexOf('=') > 0) sb.append(",\"").append(f.replace("=", "\":\"")).append('"');
        return sb.append('}').toString();
    }
    public static void main(String[] args) throws Exception {
        ConnectionPool pool = new ConnectionPool(Integer.parseInt(args[0]), Integer.getInteger("db.pool.max", 1));
        ExecutorService http = Executors.newFixedThreadPool(14, new ThreadFactory() {
            int n;
            public Thread newThread(Runnable r) { Thread t = new Thread(r, "http-nio-8080-exec-" + ++n);
                t.setDaemon(true); return t; }
        });
        for (int h = 0; h < 14; h++)
            http.submit(() -> {
                try {
                    while (true) {
                        long t = System.nanoTime();
                        String status = status(pool, ThreadLocalRandom.current().nextInt(100000));
                        if (status.length() < 5) System.out.println("short");
                        nanos.add(System.nanoTime() - t);
                        served.increment();
                    }
                } catch (Exception e) { System.err.println("handler ends: " + e); }
            });
        for (int s = 0; s < 60; s++) {
            long b = served.sum(), n = nanos.sum();
            Thread.sleep(2000);
            long d = Math.max(1, served.sum() - b);
            System.out.println("requests/s " + d / 2 + " mean ms " + (nanos.sum() - n) / d / 1000000.0);
        }
    }
}
