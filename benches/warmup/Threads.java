import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Cost of threads that wait and of threads that compute: java Threads.java KIND WORK TASKS. KIND: virtual, platform, or
 * a number of pooled threads. WORK: wait (100 ms), synchronized (the same within a monitor of the task's own), compute.
 */
public class Threads {
    public static void main(String[] arguments) throws Exception {
        int tasks = Integer.parseInt(arguments[2]);
        round(arguments[0], arguments[1], Math.min(tasks, 200));
        long begin = System.nanoTime();
        long cpu = ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
        round(arguments[0], arguments[1], tasks);
        long ms = (System.nanoTime() - begin) / 1_000_000;
        cpu = ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis() - cpu;
        String peak = Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("VmHWM")).findFirst().orElseThrow();
        System.out.println(String.join(" ", arguments) + ": " + ms + " ms, CPU " + cpu + " ms, peak "
            + Long.parseLong(peak.replaceAll("\\D", "")) / 1024 + " MiB");
    }

    private static void round(String kind, String work, int tasks) throws Exception {
        ExecutorService threads = switch (kind) {
            case "virtual" -> Executors.newVirtualThreadPerTaskExecutor();
            case "platform" -> Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory());
            default -> Executors.newFixedThreadPool(Integer.parseInt(kind));
        };
        CountDownLatch done = new CountDownLatch(tasks);
        for (int i = 0; i < tasks; i++) {
            threads.submit(() -> {
                switch (work) {
                    case "wait" -> Thread.sleep(100);
                    case "synchronized" -> {
                        synchronized (new Object()) {
                            Thread.sleep(100);
                        }
                    }
                    case "compute" -> compute();
                    default -> throw new IllegalArgumentException(work);
                }
                done.countDown();
                return null;
            });
        }
        done.await();
        threads.shutdown();
    }

    private static volatile long sink;

    private static void compute() {
        long sum = 0;
        for (int i = 0; i < 2_000_000; i++) {
            sum = sum * 31 + (i ^ sum >>> 7);
        }
        sink = sum;
    }
}
