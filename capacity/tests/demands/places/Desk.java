import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Requests of many kinds, each with one place at which it waits, and known times. Threads of a kind pause at random
 * between two requests: many threads with short pauses make the place contended.
 *
 * <pre>
 *   java Desk KIND=THREADS=PAUSE_MS ..
 * </pre>
 */
public final class Desk {
    /** Request of one kind. */
    interface Kind {
        void serve() throws Exception;
    }

    private Desk() {}

    /** Is the method of a request. */
    static void serve(Kind kind) throws Exception {
        kind.serve();
    }

    static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] kinds) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (String words : kinds) {
            String[] parts = words.split("=");
            Kind kind = parts[0].startsWith("lib-") ? Pools.kind(parts[0]) : Locks.kind(parts[0]);
            for (int i = 0; i < Integer.parseInt(parts[1]); i++) {
                int pauseMs = Integer.parseInt(parts[2]);
                threads.add(new Thread(() -> loop(kind, pauseMs), parts[0] + "-" + i));
            }
        }
        threads.forEach(Thread::start);
        System.out.println("ready");
    }

    private static void loop(Kind kind, int pauseMs) {
        Random random = new Random();
        while (true) {
            pause((int) (-pauseMs * Math.log(1 - random.nextDouble())));
            try {
                serve(kind);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
