package com.acme.compute;

import com.acme.web.JettyWeb;
import com.acme.web.Options;
import com.acme.work.Work;

/** Thumbnails: work on the processor only. */
public final class ThumbnailService {
    private ThumbnailService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("hash");
        JettyWeb.start(options, path -> "thumbnail " + Work.hash(rounds));
    }
}
