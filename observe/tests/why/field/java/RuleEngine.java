package com.acme.rules;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.*;
import java.util.stream.*;

/** Scores payments by card with a list of rules. */
public class RuleEngine {
    record Payment(String card, String shop, double amount, int hour, List<String> flags) {}
    record Verdict(String rule, double score) {}
    static final LongAdder scored = new LongAdder();

    static Payment next(Random r) {
        List<String> f = new ArrayList<>();
        for (int i = r.nextInt(4); i >= 0; i--) f.add("flag" + r.nextInt(12));
        return new Payment("4" + r.nextInt(1 << 30), "shop-" + r.nextInt(900), r.nextDouble() * 900, r.nextInt(24), f);
    }
    static final List<Function<Payment, Verdict>> RULES = List.of(
        p -> new Verdict("amount", p.amount() > 500 ? 0.6 : 0.1),
        p -> new Verdict("night", p.hour() < 5 ? 0.4 : 0.0),
        p -> new Verdict("flags", p.flags().stream().filter(s -> s.endsWith("7")).count() * 0.3),
        p -> new Verdict("shop", p.shop().hashCode() % 17 == 0 ? 0.5 : 0.0),
        p -> new Verdict("card", p.card().chars().sum() % 10 == 3 ? 0.2 : 0.0));

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2,
                r -> { Thread t = new Thread(r, "scorer"); t.setDaemon(true); return t; });
        for (int w = 0; w < 2; w++) {
            int id = w;
            pool.submit(() -> {
                Random r = new Random(id);
                ArrayDeque<Map<String, Double>> recent = new ArrayDeque<>();
                while (true) {
                    Payment p = next(r);
                    Map<String, Double> m = RULES.stream().map(f -> f.apply(p))
                            .collect(Collectors.toMap(Verdict::rule, Verdict::score));
                    recent.add(m);
                    if (recent.size() > 300) recent.poll();
                    scored.increment();
                }
            });
        }
        for (int s = 0; s < 60; s++) {
            long b = scored.sum();
            Thread.sleep(2000);
            System.out.println("payments/s " + (scored.sum() - b) / 2);
        }
    }
}
