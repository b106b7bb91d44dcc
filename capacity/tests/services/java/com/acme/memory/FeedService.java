package com.acme.memory;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Work;
import java.util.ArrayList;
import java.util.List;

/** Feeds: each request builds a list of many small entries, which is garbage when it is answered. */
public final class FeedService {
    private static final int ENTRY_BYTES = 1024;

    private FeedService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("hash");
        int entries = options.number("kib") * 1024 / ENTRY_BYTES;
        JdkWeb.start(options, path -> "feed " + build(entries, rounds));
    }

    private static long build(int entries, int rounds) {
        List<byte[]> feed = new ArrayList<>();
        for (int i = 0; i < entries; i++) {
            byte[] entry = new byte[ENTRY_BYTES - 16];
            entry[i % entry.length] = 1;
            feed.add(entry);
        }
        return Work.hash(rounds) + feed.get(entries / 2).length;
    }
}
