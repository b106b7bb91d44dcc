package com.acme.sms;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/** Sends short messages; the gateway wants 10 ms between two messages of a session. */
public class SmsDispatch {
    static final LongAdder delivered = new LongAdder(), dropped = new LongAdder(), waitNs = new LongAdder(),
            workNs = new LongAdder();
    static final Map<String, Integer> perCountry = new ConcurrentHashMap<>();

    static final class Send implements Runnable {
        final String to, text; final long created = System.nanoTime();
        Send(String to, String text) { this.to = to; this.text = text; }
        @Override public void run() {
            long t = System.nanoTime();
            waitNs.add(t - created);
            byte[] pdu = encode(to, text);
            try {
                TimeUnit.MILLISECONDS.sleep(10);        // session spacing
            } catch (InterruptedException e) { Thread.currentThread().interrupt(); return; }
            perCountry.merge(to.substring(0, 3), pdu.length, Integer::sum);
            workNs.add(System.nanoTime() - t);
            delivered.increment();
        }
    }
    static byte[] encode(String to, String text) {          // 7-bit packing
        byte[] out = new byte[(text.length() * 7 + 7) / 8 + to.length()];
        int acc = 0, bits = 0, o = 0;
        for (int i = 0; i < text.length(); i++) {
            acc |= (text.charAt(i) & 127) << bits;
            bits += 7;
            while (bits >= 8) { out[o++] = (byte) acc; acc >>= 8; bits -= 8; }
        }
        if (bits > 0) out[o] = (byte) acc;
        return out;
    }
    static Send next(Random r) {
        return new Send("+" + (10 + r.nextInt(80)) + r.nextInt(100000000),
                "Your parcel " + r.nextInt(1 << 20) + " will arrive between " + r.nextInt(12) + " and 14 o'clock");
    }
    public static void main(String[] args) throws Exception {
        int sessions = Integer.getInteger("sms.sessions", 2);
        ThreadPoolExecutor gateway = new ThreadPoolExecutor(sessions, sessions, 0, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(4000),
            r -> { Thread t = new Thread(r); t.setName("sms-gw-session-" + t.getId()); t.setDaemon(true); return t; },
            (task, ex) -> dropped.increment());
        Random r = new Random(11);
        for (int i = 0; i < 3000; i++) gateway.execute(next(r));          // left over from the night
        ScheduledExecutorService intake
                = Executors.newSingleThreadScheduledExecutor(x -> { Thread t = new Thread(x,
                "intake"); t.setDaemon(true); return t; });
        intake.scheduleAtFixedRate(() -> { for (int i = 0; i < 6; i++) gateway.execute(next(r)); }, 0, 25,
                TimeUnit.MILLISECONDS);
        for (int s = 0; s < 60; s++) {
            long b = delivered.sum(), w = waitNs.sum(), k = workNs.sum();
            Thread.sleep(2000);
            long d = Math.max(1, delivered.sum() - b);
            System.out.printf("delivered/s %d queue %d wait ms %.0f work ms %.1f dropped %d%n", d / 2,
                    gateway.getQueue().size(),
                (waitNs.sum() - w) / 1e6 / d, (workNs.sum() - k) / 1e6 / d, dropped.sum());
        }
    }
}
