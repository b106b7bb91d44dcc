package com.acme.billing;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/** Matches incoming invoice lines to known suppliers by the likeness of their names. */
public class InvoiceDedupe {
    record Line(String id, String supplier, long cents) {}

    static final class SupplierMatcher {
        private final List<String> known;
        private final int[] prev = new int[128], cur = new int[128];
        SupplierMatcher(List<String> known) { this.known = known; }

        int distance(String a, String b) {
            int n = a.length(), m = b.length();
            for (int j = 0; j <= m; j++) prev[j] = j;
            int[] p = prev, c = cur;
            for (int i = 1; i <= n; i++) {
                c[0] = i;
                char ca = a.charAt(i - 1);
                for (int j = 1; j <= m; j++) {
                    int cost = ca == b.charAt(j - 1) ? 0 : 1;
                    c[j] = Math.min(Math.min(c[j - 1] + 1, p[j] + 1), p[j - 1] + cost);
                }
                int[] t = p; p = c; c = t;
            }
            return p[m];
        }

        String best(String name) {
            int min = Integer.MAX_VALUE; String best = null;
            for (String k : known) {
                int d = distance(name, k);
                if (d < min) { min = d; best = k; }
            }
            return best;
        }
    }

    static String randomName(Random r) {
        String[] syl = {"an", "bro", "che", "dor", "el", "fin", "gra", "hol", "in", "ja", "ko", "lum", "mar", "nor",
                "ost"};
        StringBuilder sb = new StringBuilder();
        int n = 4 + r.nextInt(6);
        for (int i = 0; i < n; i++) sb.append(syl[r.nextInt(syl.length)]);
        return sb.append(r.nextBoolean() ? " gmbh" : " ltd").toString();
    }

    static Line parse(String csv) {
        String[] f = csv.split(";");
        return new Line(f[0], f[1].trim().toLowerCase(Locale.ROOT), Long.parseLong(f[2]));
    }

    public static void main(String[] args) throws Exception {
        Random r = new Random(7);
        List<String> known = new ArrayList<>();
        for (int i = 0; i < 800; i++) known.add(randomName(r));
        String[] lines = new String[5000];
        for (int i = 0; i < lines.length; i++) lines[i] = "INV-" + i + ";" + randomName(r) + ";" + r.nextInt(1000000);
        LongAdder done = new LongAdder();
        ConcurrentHashMap<String, LongAdder> totals = new ConcurrentHashMap<>();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(64),
            new ThreadPoolExecutor.CallerRunsPolicy());
        for (int w = 0; w < 2; w++) {
            int base = w * 1231;
            pool.execute(() -> {
                SupplierMatcher m = new SupplierMatcher(known);
                for (int i = base; ; i++) {
                    Line l = parse(lines[i % lines.length]);
                    totals.computeIfAbsent(m.best(l.supplier()), k -> new LongAdder()).add(l.cents());
                    done.increment();
                }
            });
        }
        long before = 0;
        for (int s = 0; s < 60; s++) {
            Thread.sleep(2000);
            long d = done.sum();
            System.out.println("matched/s " + (d - before) / 2);
            before = d;
        }
        Runtime.getRuntime().halt(0);
    }
}
