package com.acme.locks;

import com.acme.web.Options;
import com.acme.web.UndertowWeb;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/** Quotas: counts a call at a central counter under a lock, then forwards it. */
public final class QuotaService {
    private QuotaService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("parse");
        Remote backend = new Remote(options.number("backend"));
        Quota quota = new Quota(new Remote(options.number("counter")));
        UndertowWeb.start(options, path -> quota.take() + backend.call() + Work.parse(rounds));
    }
}

/** Quota: its lock is held during the call to the central counter. */
final class Quota {
    private final ReentrantLock lock = new ReentrantLock();
    private final Remote counter;
    private long taken;

    Quota(Remote counter) {
        this.counter = counter;
    }

    String take() throws IOException {
        lock.lock();
        try {
            taken++;
            return counter.call() + taken;
        } finally {
            lock.unlock();
        }
    }
}
