package com.acme.elsewhere;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Three kinds of requests with known costs. Each server calls {@link #answer} on the thread that has the request.
 *
 * <pre>
 *   here    2 ms on a processor, answered at once
 *   pool    1 ms on a processor, then on a thread of a pool: 2 ms on a processor, 10 ms of sleep
 *   timer   1 ms on a processor, then 15 ms later on a thread of a scheduler: 1 ms on a processor
 * </pre>
 */
final class Costs {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final ExecutorService POOL = Executors.newFixedThreadPool(6, named("pool-of-6"));
    private static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(2, named("scheduler"));
    private static volatile long sink;

    private Costs() {}

    private static java.util.concurrent.ThreadFactory named(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    static void answer(String path, Runnable reply) {
        if (path.startsWith("/pool")) {
            burn(1);
            POOL.execute(() -> {
                burn(2);
                sleep(10);
                reply.run();
            });
        } else if (path.startsWith("/timer")) {
            burn(1);
            TIMER.schedule(() -> {
                burn(1);
                reply.run();
            }, 15, TimeUnit.MILLISECONDS);
        } else {
            burn(2);
            reply.run();
        }
    }

    /** Returns true for a path that another thread answers. */
    static boolean isElsewhere(String path) {
        return path.startsWith("/pool") || path.startsWith("/timer");
    }

    private static void burn(double millis) {
        long end = THREADS.getCurrentThreadCpuTime() + (long) (millis * 1e6);
        while (THREADS.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 1000; i++) {
                sink += i * 31L;
            }
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
