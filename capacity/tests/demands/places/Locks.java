import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Locks, semaphores and executors of the JDK. */
final class Locks {
    private Locks() {}

    static Desk.Kind kind(String name) {
        return switch (name) {
            case "permit" -> new Permit()::take;
            case "permits" -> new Permits()::take;
            case "answer" -> new Answers()::ask;
            case "till" -> new Till()::pay;
            case "shelf" -> new Shelf()::take;
            case "prices" -> new Prices()::use;
            case "rates" -> new Rates()::use;
            case "stock" -> new Stock()::take;
            case "bell" -> new Bell()::hear;
            case "desks" -> new Desks()::sit;
            case "exports" -> new Exports()::export;
            case "futures" -> new Futures()::supply;
            case "forks" -> new Forks()::submit;
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Semaphore of 4, held for 10 ms. */
    private static final class Permit {
        private final Semaphore permits = new Semaphore(4);

        void take() throws InterruptedException {
            permits.acquire();
            try {
                Desk.pause(10);
            } finally {
                permits.release();
            }
        }
    }

    /** Semaphore of 6 of which each request takes 2, for 10 ms. */
    private static final class Permits {
        private final Semaphore permits = new Semaphore(6);

        void take() throws InterruptedException {
            permits.acquire(2);
            try {
                Desk.pause(10);
            } finally {
                permits.release(2);
            }
        }
    }

    /** Semaphore of 4 that another thread releases with the answer, after 10 ms. */
    private static final class Answers {
        private final Semaphore permits = new Semaphore(4);
        private final BlockingQueue<CompletableFuture<String>> asked = new LinkedBlockingQueue<>();

        Answers() {
            for (int i = 0; i < 4; i++) {
                Thread thread = new Thread(this::answer, "answers-" + i);
                thread.setDaemon(true);
                thread.start();
            }
        }

        private void answer() {
            while (true) {
                CompletableFuture<String> next = asked.poll();
                if (next == null) {
                    Desk.pause(1);
                    continue;
                }
                Desk.pause(10);
                permits.release();
                next.complete("yes");
            }
        }

        void ask() throws Exception {
            permits.acquire();
            CompletableFuture<String> answer = new CompletableFuture<>();
            asked.put(answer);
            answer.get();
        }
    }

    /** Lock that is held for 5 ms, taken again within itself. */
    private static final class Till {
        private final ReentrantLock lock = new ReentrantLock();

        void pay() {
            lock.lock();
            try {
                count();
            } finally {
                lock.unlock();
            }
        }

        private void count() {
            lock.lock();
            try {
                Desk.pause(5);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Lock that is held for 4 ms, given back while a thread waits 10 ms for a signal, and held for 4 ms again. */
    private static final class Shelf {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition filled = lock.newCondition();

        void take() throws InterruptedException {
            lock.lock();
            try {
                Desk.pause(4);
                filled.await(10, TimeUnit.MILLISECONDS);
                Desk.pause(4);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Readers for 10 ms, and each fifth time a writer for 5 ms. */
    private static final class Prices {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final AtomicInteger times = new AtomicInteger();

        void use() {
            boolean isWriter = times.incrementAndGet() % 5 == 0;
            Lock mine = isWriter ? lock.writeLock() : lock.readLock();
            mine.lock();
            try {
                Desk.pause(isWriter ? 5 : 10);
            } finally {
                mine.unlock();
            }
        }
    }

    /** The same with a StampedLock. */
    private static final class Rates {
        private final StampedLock lock = new StampedLock();
        private final AtomicInteger times = new AtomicInteger();

        void use() {
            boolean isWriter = times.incrementAndGet() % 5 == 0;
            long stamp = isWriter ? lock.writeLock() : lock.readLock();
            try {
                Desk.pause(isWriter ? 5 : 10);
            } finally {
                lock.unlock(stamp);
            }
        }
    }

    /** Monitor that is held for 5 ms, deep within calls. */
    private static final class Stock {
        private int taken;

        synchronized void take() {
            look(30);
            taken++;
        }

        private void look(int shelves) {
            if (shelves > 0) {
                look(shelves - 1);
            } else {
                Desk.pause(5);
            }
        }
    }

    /** Monitor that is held for 4 ms, given back while a thread waits 10 ms, and held for 4 ms again. */
    private static final class Bell {
        private final Object ring = new Object();

        void hear() throws InterruptedException {
            synchronized (ring) {
                Desk.pause(4);
                ring.wait(10);
                Desk.pause(4);
            }
        }
    }

    /** Queue of 4 items that are taken for 10 ms and put back. */
    private static final class Desks {
        private final BlockingQueue<Integer> free = new ArrayBlockingQueue<>(4, false, java.util.List.of(1, 2, 3, 4));

        void sit() throws InterruptedException {
            Integer desk = free.take();
            try {
                Desk.pause(10);
            } finally {
                free.put(desk);
            }
        }
    }

    /** Executor of 3 threads, 10 ms a task. */
    private static final class Exports {
        private final ExecutorService threads = Executors.newFixedThreadPool(3, task -> new Thread(task, "exporter-1"));

        void export() throws Exception {
            threads.submit(() -> Desk.pause(10)).get();
        }
    }

    /** Future of a pool of 3 threads, in two stages of 5 ms. */
    private static final class Futures {
        private final ForkJoinPool threads = new ForkJoinPool(3, pool -> {
            var worker = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
            worker.setName("futures-" + worker.getPoolIndex());
            return worker;
        }, null, false);

        void supply() throws Exception {
            CompletableFuture.runAsync(() -> Desk.pause(5), threads).thenRunAsync(() -> Desk.pause(5), threads).get();
        }
    }

    /** Fork-join pool of 2 threads, 10 ms a task. */
    private static final class Forks {
        private final ForkJoinPool threads = new ForkJoinPool(2, pool -> {
            var worker = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
            worker.setName("forks-" + worker.getPoolIndex());
            return worker;
        }, null, false);

        void submit() throws Exception {
            threads.submit(() -> Desk.pause(10)).get();
        }
    }
}
