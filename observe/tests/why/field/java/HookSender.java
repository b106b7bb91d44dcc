package com.acme.hooks;

import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Delivers events to the web hooks of customers, each at a host of its own. */
public class HookSender {
    record Event(int customer, String type, String body) {}
    static final LongAdder sent = new LongAdder(), failed = new LongAdder(), resolveNs = new LongAdder(),
            postNs = new LongAdder();

    static Event nextEvent(Random r) {
        StringBuilder sb = new StringBuilder("{");
        for (int i = 0; i < 12; i++) sb.append(i > 0 ? "," : "").append("\"f").append(i).append("\":")
                .append(r.nextInt(1000));
        return new Event(r.nextInt(50000), r.nextBoolean() ? "order.paid" : "order.sent", sb.append('}').toString());
    }
    static void deliver(Event e, int port) throws IOException {
        long t0 = System.nanoTime();
        InetAddress a = InetAddress.getByName("c" + e.customer() + ".hooks.acme-customers.net");
        long t1 = System.nanoTime();
        try (Socket s = new Socket()) {
            s.connect(new InetSocketAddress(a, port), 2000);
            s.setSoTimeout(5000);
            s.getOutputStream().write((e.type() + " " + e.body() + "\n").getBytes(StandardCharsets.UTF_8));
            String answer = new BufferedReader(new InputStreamReader(s.getInputStream())).readLine();
            if (answer == null || !answer.startsWith("OK")) throw new IOException("refused");
        }
        resolveNs.add(t1 - t0);
        postNs.add(System.nanoTime() - t1);
    }
    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        ArrayBlockingQueue<Event> outbox = new ArrayBlockingQueue<>(16);
        for (int w = 0; w < 4; w++) {
            Thread t = new Thread(() -> {
                while (true) {
                    try { deliver(outbox.take(), port); sent.increment(); }
                    catch (IOException e) { failed.increment(); }
                    catch (InterruptedException e) { return; }
                }
            }, "hook-delivery-" + w);
            t.setDaemon(true);
            t.start();
        }
        Thread src = new Thread(() -> {
            Random r = new Random(5);
            try { while (true) outbox.put(nextEvent(r)); } catch (InterruptedException e) { }
        }, "event-source");
        src.setDaemon(true);
        src.start();
        for (int s = 0; s < 60; s++) {
            long b = sent.sum(), r = resolveNs.sum(), p = postNs.sum();
            Thread.sleep(2000);
            long d = Math.max(1, sent.sum() - b);
            System.out.printf("sent/s %d failed %d resolve ms %.1f post ms %.1f%n", d / 2, failed.sum(),
                (resolveNs.sum() - r) / 1e6 / d, (postNs.sum() - p) / 1e6 / d);
        }
    }
}
