package com.acme.memory;

import com.acme.web.TomcatWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;

/** Exports: reads rows from another service and renders them as text, with much garbage. */
public final class ExportService {
    private ExportService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rows = options.number("render");
        Remote data = new Remote(options.number("data"));
        TomcatWeb.start(options, path -> data.call() + Work.render(rows));
    }
}
