package com.acme.tickets;

import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.*;

/** Sells seats: desks take the next free seat of a hall, and some seats are given back. */
public class TicketDesk {
    static final class Hall {
        private final ReentrantLock lock;
        private final BitSet taken = new BitSet(4096);
        private int cursor;
        Hall(boolean fair) { lock = new ReentrantLock(fair); }
        int reserve() {
            lock.lock();
            try {
                int s = taken.nextClearBit(cursor);
                if (s >= 4096) { s = taken.nextClearBit(0); if (s >= 4096) return -1; }
                taken.set(s);
                cursor = s + 1;
                return s;
            } finally { lock.unlock(); }
        }
        void giveBack(int s) {
            lock.lock();
            try { taken.clear(s); } finally { lock.unlock(); }
        }
    }
    static int priceOf(int seat, int age) {
        int p = 1000 + (seat % 64) * 35;
        if (age < 14) p = p * 6 / 10; else if (age > 65) p = p * 8 / 10;
        return p + (Integer.bitCount(seat) * 7) % 50;
    }
    public static void main(String[] args) throws Exception {
        boolean fair = args.length == 0 || !args[0].equals("barging");
        Hall hall = new Hall(fair);
        LongAdder sold = new LongAdder();
        ExecutorService desks = Executors.newCachedThreadPool(r -> { Thread t
                = new Thread(r); t.setName("desk-" + t.getId()); t.setDaemon(true); return t; });
        for (int d = 0; d < 24; d++) {
            desks.submit(() -> {
                ArrayDeque<Integer> mine = new ArrayDeque<>();
                ThreadLocalRandom r = ThreadLocalRandom.current();
                long takings = 0;
                while (true) {
                    int seat = hall.reserve();
                    if (seat >= 0) { mine.add(seat); takings += priceOf(seat, r.nextInt(90)); sold.increment(); }
                    if (mine.size() > 20 + r.nextInt(100)) hall.giveBack(mine.poll());
                    if (takings < 0) throw new IllegalStateException();
                }
            });
        }
        for (int s = 0; s < 60; s++) {
            long b = sold.sum();
            Thread.sleep(2000);
            System.out.println("seats/s " + (sold.sum() - b) / 2);
        }
    }
}
