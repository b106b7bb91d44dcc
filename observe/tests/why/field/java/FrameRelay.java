package com.acme.frames;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.*;

/** Takes frames from a camera at a steady rate, packs them and measures movement. */
public class FrameRelay {
    static final class Frame { final int no; final byte[] px; final long at = System.nanoTime();
        Frame(int n, byte[] p) { no = n; px = p; } }
    static final LongAdder out = new LongAdder(), bytes = new LongAdder(), latNs = new LongAdder();

    static Frame grab(int n, Random r) {
        byte[] p = new byte[96 * 1024];
        for (int i = 0; i < p.length; i++) p[i] = (byte) (i * 7 + n >> 3);
        for (int i = 0; i < 1600; i++) p[r.nextInt(p.length)] = (byte) r.nextInt();
        return new Frame(n, p);
    }
    static int movement(byte[] a, byte[] b) {
        int d = 0;
        for (int i = 0; i < a.length; i++) if (Math.abs(a[i] - b[i]) > 12) d++;
        return d;
    }
    static int pack(Deflater z, byte[] in, byte[] buf) {
        z.reset(); z.setInput(in); z.finish();
        int n = 0;
        while (!z.finished()) n += z.deflate(buf);
        return n;
    }
    public static void main(String[] args) throws Exception {
        BlockingQueue<Frame> line = new ArrayBlockingQueue<>(100);
        Thread camera = new Thread(() -> {
            Random r = new Random();
            long next = System.nanoTime();
            try {
                for (int n = 0; ; n++) {
                    line.put(grab(n, r));
                    next += 1_000_000_000L / 160;
                    long d = next - System.nanoTime();
                    if (d > 0) TimeUnit.NANOSECONDS.sleep(d); else next = System.nanoTime();
                }
            } catch (InterruptedException e) { }
        }, "camera-reader");
        Thread relay = new Thread(() -> {
            Deflater z = new Deflater(4);
            byte[] buf = new byte[192 * 1024], last = new byte[96 * 1024];
            long moved = 0;
            try {
                while (true) {
                    Frame f = line.take();
                    moved += movement(last, f.px);
                    last = f.px;
                    bytes.add(pack(z, f.px, buf));
                    latNs.add(System.nanoTime() - f.at);
                    out.increment();
                    if (moved < 0) return;
                }
            } catch (InterruptedException e) { }
        }, "relay");
        camera.setDaemon(true); relay.setDaemon(true);
        camera.start(); relay.start();
        for (int s = 0; s < 60; s++) {
            long b = out.sum(), l = latNs.sum();
            Thread.sleep(2000);
            long d = Math.max(1, out.sum() - b);
            System.out.printf("frames/s %d queue %d latency ms %.2f%n", d / 2, line.size(),
                    (latNs.sum() - l) / 1e6 / d);
        }
    }
}
