package com.acme.locks;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;

/** Bookings: checks a booking at another service and adds it to the ledger. */
public final class LedgerService {
    private LedgerService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("hash");
        Remote checks = new Remote(options.number("checks"));
        Ledger ledger = new Ledger(options.number("chain"));
        JdkWeb.start(options, path -> {
            String check = checks.call();
            long signature = Work.hash(rounds);
            return check + ledger.book(signature);
        });
    }
}

/** Ledger: a chain of hashes, computed inside its monitor. */
final class Ledger {
    private final int rounds;
    private long head;

    Ledger(int rounds) {
        this.rounds = rounds;
    }

    synchronized long book(long signature) {
        head = head * 31 + signature + Work.hash(rounds);
        return head;
    }
}
