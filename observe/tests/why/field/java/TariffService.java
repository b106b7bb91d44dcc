package com.acme.tariff;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

/** Quotes prices for parcels, for requests at a steady rate. */
public class TariffService {
    static final class Quote { String from, to; int[] dims; double price; long check; String text; }
    static final LongAdder quotes = new LongAdder(), latNs = new LongAdder();

    static Quote parse(String line) {
        Quote q = new Quote();
        String[] f = line.split("\\|");
        q.from = f[0]; q.to = f[1];
        q.dims = Arrays.stream(f[2].split("x")).mapToInt(Integer::parseInt).toArray();
        return q;
    }
    static double distance(String a, String b) {
        double x = 0;
        for (int i = 0; i < 400; i++) x += Math.hypot(a.charAt(i % a.length()) * i, b.charAt(i % b.length()) - i);
        return x / 400;
    }
    static int boxFit(int[] d) {
        int best = Integer.MAX_VALUE;
        for (int l = d[0]; l < d[0] + 7; l++) for (int w = d[1]; w < d[1] + 7; w++)
                for (int h = d[2]; h < d[2] + 7; h++) {
            int v = l * w * h - (l ^ w ^ h);
            if (v % 7 == 3 && v < best) best = v;
        }
        return best;
    }
    static List<Integer> surcharges(Quote q) {
        TreeMap<Integer, Integer> m = new TreeMap<>();
        for (int i = 0; i < 160; i++) m.merge((i * 31 + q.dims[i % 3]) % 97, i, Integer::sum);
        return new ArrayList<>(m.values());
    }
    static String render(Quote q, List<Integer> extra) {
        StringBuilder sb = new StringBuilder();
        for (int e : extra) sb.append(q.from).append(';').append(e / 100).append('.').append(e % 100).append('\n');
        return sb.toString();
    }
    static long sign(String s) { CRC32 c = new CRC32(); for (int i = 0; i < 12; i++) c.update(s.getBytes());
        return c.getValue(); }

    static void answer(String line) {
        for (int i = 0; i < 96; i++) {                      // carriers and their zones
            Quote q = parse(line);
            q.price = distance(q.from + i, q.to) + boxFit(q.dims);
            q.text = render(q, surcharges(q));
            q.check = sign(q.text);
            if (q.check == 1) System.out.println(q.text);
        }
    }
    public static void main(String[] args) throws Exception {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(2,
                r -> { Thread t = new Thread(r, "quote-worker"); t.setDaemon(true); return t; });
        Thread door = new Thread(() -> {
            Random r = new Random(2);
            long next = System.nanoTime();
            int perSecond = Integer.getInteger("rate", 400);
            while (true) {
                next += (long) (-Math.log(1 - r.nextDouble()) * 1e9 / perSecond);
                long d = next - System.nanoTime();
                if (d > 0) { try { TimeUnit.NANOSECONDS.sleep(d); } catch (InterruptedException e) { return; } }
                if (pool.getQueue().size() > 50) continue;  // busy: the client is rejected
                String line = "DE" + r.nextInt(99999) + "|FR" + r.nextInt(99999) + "|" + (10 + r.nextInt(60)) + "x"
                        + (10 + r.nextInt(60)) + "x" + (5 + r.nextInt(40));
                long t = System.nanoTime();
                pool.execute(() -> { answer(line); latNs.add(System.nanoTime() - t); quotes.increment(); });
            }
        }, "acceptor");
        door.setDaemon(true); door.start();
        for (int s = 0; s < 60; s++) {
            long b = quotes.sum(), l = latNs.sum();
            Thread.sleep(2000);
            long d = Math.max(1, quotes.sum() - b);
            System.out.printf("quotes/s %d latency ms %.1f%n", d / 2, (latNs.sum() - l) / 1e6 / d);
        }
    }
}
