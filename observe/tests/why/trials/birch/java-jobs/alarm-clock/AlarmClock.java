package hotel;

import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes the guests of hotels: a virtual thread for each room. */
public class AlarmClock {
    private static final ReentrantLock journal = new ReentrantLock();
    private static final LongAdder calls = new LongAdder();
    private static long lastRoom;

    private static void room(int number) {
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(20_000));
            while (true) {
                journal.lock();
                try {
                    lastRoom = number;
                } finally {
                    journal.unlock();
                }
                calls.increment();
                Thread.sleep(15_000 + number % 10_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 8000; i++) {
            int number = i;
            Thread.startVirtualThread(() -> room(number));
        }
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + calls.sum());
        }
    }
}
