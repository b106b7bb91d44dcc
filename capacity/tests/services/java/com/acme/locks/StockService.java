package com.acme.locks;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;

/** Reservations: asks for the customer, then reserves at the warehouse, one reservation at a time. */
public final class StockService {
    private StockService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("hash");
        Remote customers = new Remote(options.number("customers"));
        Stock stock = new Stock(new Remote(options.number("warehouse")));
        JdkWeb.start(options, path -> {
            String customer = customers.call();
            long signature = Work.hash(rounds);
            return customer + stock.reserve() + signature;
        });
    }
}

/** Stock: its monitor is held during the call to the warehouse. */
final class Stock {
    private final Remote warehouse;
    private long reserved;

    Stock(Remote warehouse) {
        this.warehouse = warehouse;
    }

    synchronized String reserve() throws IOException {
        reserved++;
        return warehouse.call() + reserved;
    }
}
