package com.acme.compute;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Travel offers: asks for flights, hotels and cars at once ({@code --at-once 1}) or in turn, and ranks the offers. */
public final class TravelService {
    private TravelService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("sort");
        Remote flights = new Remote(options.number("flights"));
        Remote hotels = new Remote(options.number("hotels"));
        Remote cars = new Remote(options.number("cars"));
        ExecutorService searches = Executors.newFixedThreadPool(options.number("searches"));
        boolean atOnce = options.number("at-once") == 1;
        JdkWeb.start(options, path -> {
            if (!atOnce) {
                return search(flights) + search(hotels) + search(cars) + Work.sort(rounds);
            }
            CompletableFuture<String> flight = CompletableFuture.supplyAsync(() -> search(flights), searches);
            CompletableFuture<String> hotel = CompletableFuture.supplyAsync(() -> search(hotels), searches);
            CompletableFuture<String> car = CompletableFuture.supplyAsync(() -> search(cars), searches);
            CompletableFuture.allOf(flight, hotel, car).join();
            return flight.join() + hotel.join() + car.join() + Work.sort(rounds);
        });
    }

    private static String search(Remote remote) {
        try {
            return remote.call();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
