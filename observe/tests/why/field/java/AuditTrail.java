package com.acme.audit;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.*;
import java.util.concurrent.atomic.LongAdder;

/** Request handlers that all write to one audit trail, in which each record is chained to the one before. */
public class AuditTrail {
    static final class Trail {
        private final ArrayDeque<String> recent = new ArrayDeque<>();
        private final Map<String, Long> perUser = new HashMap<>();
        private final MessageDigest sha;
        private byte[] last = new byte[32];
        private final StringBuilder text = new StringBuilder();
        Trail() throws Exception { sha = MessageDigest.getInstance("SHA-1"); }

        synchronized void append(String user, String action, Map<String, String> fields) {
            text.setLength(0);
            text.append("{\"user\":\"").append(user).append("\",\"action\":\"").append(action).append('"');
            for (Map.Entry<String, String> e : new TreeMap<>(fields).entrySet()) {
                text.append(",\"").append(e.getKey()).append("\":\"");
                escape(e.getValue());
                text.append('"');
            }
            text.append(",\"prev\":\"").append(hex(last)).append("\"}");
            String rec = text.toString();
            sha.update(rec.getBytes(StandardCharsets.UTF_8));
            last = sha.digest(last);
            recent.addLast(rec);
            if (recent.size() > 500) recent.removeFirst();
            perUser.merge(user, (long) rec.length(), Long::sum);
        }
        private void escape(String s) {
            for (int i = 0; i < s.length(); i++) {
                char c = s.charAt(i);
                switch (c) {
                    case '"': text.append("\\\""); break;
                    case '\\': text.append("\\\\"); break;
                    case '\n': text.append("\\n"); break;
                    default: text.append(c);
                }
            }
        }
        private static String hex(byte[] b) {
            StringBuilder sb = new StringBuilder(b.length * 2);
            for (byte x : b) sb.append(Character.forDigit((x >> 4) & 15, 16)).append(Character.forDigit(x & 15, 16));
            return sb.toString();
        }
    }

    static final LongAdder served = new LongAdder();

    static void handle(Trail trail, Random r, Map<String, String> fields) {
        String user = "u" + r.nextInt(2000);
        fields.put("ip", "10.0." + r.nextInt(255) + "." + r.nextInt(255));
        fields.put("path", "/accounts/" + Integer.toString(r.nextInt(1 << 20), 36));
        trail.append(user, r.nextBoolean() ? "READ" : "UPDATE", fields);
        served.increment();
    }

    public static void main(String[] args) throws Exception {
        Trail shared = new Trail();
        boolean own = args.length > 0 && args[0].equals("own"); // one trail per handler
        for (int t = 0; t < 10; t++) {
            int id = t;
            Trail trail = own ? new Trail() : shared;
            Thread th = new Thread(() -> {
                Random r = new Random(id);
                Map<String, String> fields = new HashMap<>();
                for (int k = 0; k < 24; k++) fields.put("h" + k, "value \"" + "x".repeat(60 + k) + "\"");
                while (true) handle(trail, r, fields);
            }, "http-handler-" + t);
            th.setDaemon(true);
            th.start();
        }
        for (int s = 0; s < 60; s++) {
            long b = served.sum();
            Thread.sleep(2000);
            System.out.println("requests/s " + (served.sum() - b) / 2);
        }
    }
}
