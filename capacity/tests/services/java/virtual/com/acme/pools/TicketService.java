package com.acme.pools;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** Tickets: a virtual thread a request; a semaphore bounds the calls to the ticket office. Needs JDK 21 or later. */
public final class TicketService {
    private TicketService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("hash");
        Remote events = new Remote(options.number("events"));
        Office office = new Office(new Remote(options.number("office")), options.number("permits"));
        JdkWeb.start(options, path -> events.call() + office.buy() + Work.hash(rounds),
                Executors.newVirtualThreadPerTaskExecutor());
    }
}

/** Ticket office: it takes as many calls at once as it has permits. */
final class Office {
    private final Semaphore permits;
    private final Remote remote;

    Office(Remote remote, int permits) {
        this.remote = remote;
        this.permits = new Semaphore(permits);
    }

    String buy() throws IOException, InterruptedException {
        permits.acquire();
        try {
            return remote.call();
        } finally {
            permits.release();
        }
    }
}
