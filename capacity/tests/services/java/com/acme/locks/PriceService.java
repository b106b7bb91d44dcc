package com.acme.locks;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Prices: reads the old price, computes a new one, and publishes it. */
public final class PriceService {
    private PriceService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("sort");
        Remote rates = new Remote(options.number("rates"));
        Prices prices = new Prices(new Remote(options.number("publisher")), options.number("check"));
        JdkWeb.start(options, path -> {
            String rate = rates.call();
            long price = prices.current() + Work.sort(rounds);
            return rate + prices.publish(price);
        });
    }
}

/** Prices: read under the read lock; checked and published under the write lock. */
final class Prices {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Remote publisher;
    private final int rounds;
    private long current;

    Prices(Remote publisher, int rounds) {
        this.publisher = publisher;
        this.rounds = rounds;
    }

    long current() {
        lock.readLock().lock();
        try {
            return current;
        } finally {
            lock.readLock().unlock();
        }
    }

    String publish(long price) throws IOException {
        lock.writeLock().lock();
        try {
            current = price ^ Work.sort(rounds);
            return publisher.call();
        } finally {
            lock.writeLock().unlock();
        }
    }
}
