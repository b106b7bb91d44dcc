package com.acme.compute;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Work;
import java.util.concurrent.ThreadLocalRandom;

/** Quotes: most are simple; each tenth is a bundle that costs ten times as much. */
public final class QuoteService {
    private QuoteService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int simple = options.number("sort");
        JdkWeb.start(options, path -> {
            boolean bundle = ThreadLocalRandom.current().nextInt(10) == 0;
            return "quote " + (bundle ? bundle(simple * 10) : Work.sort(simple));
        });
    }

    private static long bundle(int rounds) {
        return Work.sort(rounds);
    }
}
