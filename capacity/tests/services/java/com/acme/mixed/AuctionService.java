package com.acme.mixed;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Auctions: a bid is signed for each bidder who waits at that time: the more there are, the more a request costs. */
public final class AuctionService {
    private final Set<Bid> waiting = ConcurrentHashMap.newKeySet();
    private final AtomicLong prices = new AtomicLong();
    private final Remote accounts;
    private final int rounds;
    private final int each;

    private AuctionService(Options options) {
        accounts = new Remote(options.number("accounts"));
        rounds = options.number("hash");
        each = options.number("each");
    }

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        AuctionService auction = new AuctionService(options);
        JdkWeb.start(options, path -> auction.bid());
    }

    private String bid() throws Exception {
        Bid bid = new Bid();
        waiting.add(bid);
        try {
            String account = accounts.call();
            long price = prices.incrementAndGet() + Work.hash(rounds);
            for (Bid other : waiting) {
                other.show(price, each);
            }
            return account + bid.seen;
        } finally {
            waiting.remove(bid);
        }
    }

    /** Bid that waits; it has seen the other prices. */
    private static final class Bid {
        private volatile long seen;

        void show(long price, int rounds) {
            seen = price + Work.hash(rounds);
        }
    }
}
