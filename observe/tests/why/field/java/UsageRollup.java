package com.acme.usage;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Adds up records of calls by tenant; one tenant has nearly all of them. */
public class UsageRollup {
    static final class Totals {
        final Map<String, long[]> byCell = new HashMap<>();
        final ArrayDeque<String> tail = new ArrayDeque<>();
    }
    static final ConcurrentHashMap<String, Totals> tenants = new ConcurrentHashMap<>();
    static final LongAdder records = new LongAdder();
    static final Map<Integer, String[]> subscribers = new HashMap<>();

    static String cdr(Random r, String tenant) {
        return tenant + ",cell-" + r.nextInt(600) + "," + r.nextInt(3600) + "," + r.nextInt(1 << 20) + ",sub"
                + r.nextInt(100000) + ",voice,national,prepaid";
    }
    static Totals add(Totals t, String line) {
        if (t == null) t = new Totals();
        String[] f = line.split(",");
        List<String> tags = new ArrayList<>();
        for (int i = 4; i < f.length; i++) tags.add(f[i].toUpperCase(Locale.ROOT) + "/" + f[1]);
        long[] a = t.byCell.computeIfAbsent(f[1], k -> new long[2]);
        a[0] += Long.parseLong(f[2]);
        a[1] += Long.parseLong(f[3]);
        t.tail.addLast(String.join("|", tags));
        if (t.tail.size() > 300) t.tail.removeFirst();
        return t;
    }
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 60_000; i++) subscribers.put(i, new String[]{"subscriber " + i, "plan " + i % 40});
        boolean even = args.length > 0 && args[0].equals("even");
        ExecutorService ex = Executors.newCachedThreadPool(r -> { Thread t
                = new Thread(r); t.setName("rollup-" + t.getId()); t.setDaemon(true); return t; });
        for (int w = 0; w < 6; w++) {
            int id = w;
            ex.execute(() -> {
                Random r = new Random(id);
                String tenant = even ? "tenant-" + id : "bigtel";
                String[] lines = new String[2000];
                for (int i = 0; i < lines.length; i++) lines[i] = cdr(r, tenant);
                for (int i = 0; ; i++) {
                    String line = lines[i % lines.length];
                    tenants.compute(line.substring(0, line.indexOf(',')), (k, t) -> add(t, line));
                    records.increment();
                }
            });
        }
        for (int s = 0; s < 60; s++) { long b = records.sum(); Thread.sleep(2000);
            System.out.println("records/s " + (records.sum() - b) / 2 + " subscribers " + subscribers.size()); }
    }
}
