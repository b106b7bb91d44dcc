package com.acme.locks;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.util.concurrent.locks.ReentrantLock;

/** Order matching: an order is many small fills, each under the lock of the book. */
public final class MatchService {
    private MatchService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("parse");
        int fills = options.number("fills");
        Remote orders = new Remote(options.number("orders"));
        Book book = new Book(options.number("fill"));
        JdkWeb.start(options, path -> {
            String order = orders.call();
            long filled = Work.parse(rounds);
            for (int i = 0; i < fills; i++) {
                filled = book.fill(filled);
            }
            return order + filled;
        });
    }
}

/** Book: a fair lock, so that no order starves. */
final class Book {
    private final ReentrantLock lock = new ReentrantLock(true);
    private final int rounds;
    private long depth;

    Book(int rounds) {
        this.rounds = rounds;
    }

    long fill(long amount) {
        lock.lock();
        try {
            depth += amount ^ Work.parse(rounds);
            return depth;
        } finally {
            lock.unlock();
        }
    }
}
