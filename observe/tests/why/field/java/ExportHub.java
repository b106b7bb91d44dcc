package com.acme.export;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Exports reports to clients on thin lines: the rows of a report are kept until its client has taken them all. */
public class ExportHub {
    static final class Row {
        final String account; final Long amount; final String note;
        Row(String a, Long m, String n) { account = a; amount = m; note = n; }
    }
    static final LongAdder exports = new LongAdder(), checks = new LongAdder();

    static List<Row> query(Random r, int rows) {
        List<Row> l = new LinkedList<>();
        for (int i = 0; i < rows; i++) l.add(new Row("DE" + r.nextInt(1 << 30), r.nextLong(), "note " + i));
        return l;
    }
    static void exportTo(Random r) throws InterruptedException {
        List<Row> rows = query(r, 8_000);
        int sent = 0;
        long sum = 0;
        for (Iterator<Row> it = rows.iterator(); it.hasNext(); ) {
            sum += it.next().amount;
            if (++sent % 500 == 0) Thread.sleep(60);        // the client takes 500 rows at a time
        }
        if (sum == 42) System.out.println(rows.size());
        exports.increment();
    }
    public static void main(String[] args) throws Exception {
        ExecutorService slow = Executors.newFixedThreadPool(150);
        for (int i = 0; i < 150; i++) {
            int id = i;
            slow.submit(() -> {
                Random r = new Random(id);
                try { Thread.sleep(r.nextInt(2000)); while (true) exportTo(r); } catch (InterruptedException e) { }
            });
        }
        Thread t = new Thread(() -> {                       // interactive requests
            Random r = new Random();
            while (true) {
                Map<String, Integer> m = new HashMap<>();
                for (int i = 0; i < 200; i++) m.merge("k" + r.nextInt(50), i, Integer::sum);
                checks.increment();
            }
        }, "interactive");
        t.setDaemon(true); t.start();
        for (int s = 0; s < 60; s++) {
            long b = exports.sum(), c = checks.sum();
            Thread.sleep(2000);
            System.out.println("exports/s " + (exports.sum() - b) / 2 + " interactive/s " + (checks.sum() - c) / 2);
        }
        Runtime.getRuntime().halt(0);
    }
}
