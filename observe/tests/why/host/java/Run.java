import java.util.concurrent.atomic.LongAdder;

/**
 * Common start and end of the programs: SECONDS and options on the command line, "ready", the operations at the
 * end.
 */
final class Run {
    final boolean cured;
    final String[] args;
    private final double seconds;
    private final LongAdder operations = new LongAdder();
    private long start;

    interface Body {
        void run(int number) throws Exception;
    }

    Run(String[] words) {
        seconds = Double.parseDouble(words[0]);
        cured = words[words.length - 1].equals("--cured");
        args = java.util.Arrays.copyOfRange(words, 1, words.length);
    }

    void ready() {
        start = System.nanoTime();
        System.out.println("ready");
    }

    boolean going() {
        return System.nanoTime() - start < seconds * 1e9;
    }

    void done() {
        operations.increment();
    }

    /** Runs threads, each with its number. When all have ended, prints the operations and ends the process. */
    void threads(int count, String name, Body body) throws InterruptedException {
        Thread[] all = new Thread[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            all[i] = new Thread(() -> {
                try {
                    body.run(number);
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            }, name + "-" + i);
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        finish();
    }

    void finish() {
        System.out.printf("operations %d in %.3f s%n", operations.sum(), (System.nanoTime() - start) / 1e9);
        System.exit(0);
    }
}
