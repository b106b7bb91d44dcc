package com.acme.pools;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Parcels: one call to the carrier, one over the few connections that the warehouse allows. */
public final class WarehouseService {
    private WarehouseService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("parse");
        Remote carrier = new Remote(options.number("carrier"));
        Connections warehouse = new Connections(new Remote(options.number("warehouse")), options.number("connections"));
        JdkWeb.start(options, path -> carrier.call() + warehouse.call() + Work.parse(rounds));
    }
}

/** Pool of connections: borrowed for a call, then given back. */
final class Connections {
    private final BlockingQueue<Remote.Connection> free;

    Connections(Remote remote, int size) throws IOException {
        free = new ArrayBlockingQueue<>(size);
        for (int i = 0; i < size; i++) {
            free.add(remote.connect());
        }
    }

    String call() throws IOException, InterruptedException {
        Remote.Connection connection = free.take();
        try {
            return connection.call();
        } finally {
            free.add(connection);
        }
    }
}
