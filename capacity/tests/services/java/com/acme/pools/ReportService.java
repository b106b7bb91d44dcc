package com.acme.pools;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Reports: a worker reads the data; one of a few exporters formats and stores the report. */
public final class ReportService {
    private ReportService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int read = options.number("hash");
        int format = options.number("sort");
        Remote data = new Remote(options.number("data"));
        Remote store = new Remote(options.number("store"));
        AtomicInteger number = new AtomicInteger();
        ExecutorService exporters = Executors.newFixedThreadPool(options.number("exporters"),
                task -> new Thread(task, "exporter-" + number.incrementAndGet()));
        JdkWeb.start(options, path -> {
            String rows = data.call() + Work.hash(read);
            Future<String> report = exporters.submit(() -> Work.sort(format) + store.call());
            return rows + report.get();
        });
    }
}
