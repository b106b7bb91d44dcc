package grain;

import com.github.benmanes.caffeine.cache.*;
import java.util.*;

class QuoteStore {
    private static final int LOTS = 6_000;
    private final LoadingCache<Integer, List<Quote>> cache;

    QuoteStore(int lots) {
        cache = Caffeine.newBuilder().maximumSize(lots).build(this::load);
    }

    void preload() {
        for (int i = 0; i < LOTS; i++) cache.get(i);
    }

    List<Quote> history(int lot) {
        return cache.get(lot % LOTS);
    }

    private List<Quote> load(int lot) {
        List<Quote> quotes = new ArrayList<>(640);
        double price = 200 + lot % 90;
        for (int day = 0; day < 640; day++) {
            price += Math.sin(lot * 31 + day) * 1.7;
            quotes.add(new Quote(Double.valueOf(price)));
        }
        return quotes;
    }
}

record Quote(Double price) { }
