package hospital;

import java.io.*;
import java.net.Socket;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** Swaps shifts of nurses between the wards of a hospital, after the rules service allowed it. */
public class ShiftPlanner {
    static final class Ward {
        final int number;
        final int[] shifts = new int[21];

        Ward(int number) {
            this.number = number;
            Arrays.fill(shifts, 6);
        }
    }

    record Swap(Ward from, Ward to, int shift) {}

    private final int rulesPort;
    private final boolean sorted;
    private final CountDownLatch begin = new CountDownLatch(10);
    private final LongAdder swapped = new LongAdder();

    ShiftPlanner(int rulesPort, boolean sorted) {
        this.rulesPort = rulesPort;
        this.sorted = sorted;
    }

    private void swap(Swap s) throws Exception {
        Ward first = s.from, second = s.to;
        if (sorted && first.number > second.number) {
            first = s.to;
            second = s.from;
        }
        synchronized (first) {
            first.shifts[s.shift]--;
            Thread.sleep(8);          // writes the roster of the first ward
            synchronized (second) {
                second.shifts[s.shift]++;
            }
        }
        swapped.increment();
    }

    private void work(BlockingQueue<Swap> inbox, Swap standing) {
        try (Socket s = new Socket("127.0.0.1", rulesPort)) {
            s.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream()));
            OutputStream out = s.getOutputStream();
            begin.countDown();
            begin.await();
            swap(standing);          // the standing exchange of the morning needs no rules
            while (true) {
                Swap next = inbox.take();
                out.write(("SWAP " + next.from.number + " " + next.to.number + "\n").getBytes());
                if (in.readLine().equals("ALLOWED")) {
                    swap(next);
                }
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    public static void main(String[] a) throws Exception {
        ShiftPlanner p = new ShiftPlanner(Integer.parseInt(a[0]), a[1].equals("sorted"));
        Ward[] wards = new Ward[200];
        for (int i = 0; i < wards.length; i++) {
            wards[i] = new Ward(i);
        }
        BlockingQueue<Swap> inbox = new ArrayBlockingQueue<>(64);
        for (int i = 0; i < 10; i++) {
            int w = i / 2 * 2;
            Swap standing = i >= 8 ? new Swap(wards[w], wards[i * 2], 3)
                : i % 2 == 0 ? new Swap(wards[w], wards[w + 1], 3) : new Swap(wards[w + 1], wards[w], 3);
            new Thread(() -> p.work(inbox, standing), "planner-" + i).start();
        }
        new Thread(() -> {
            try {
                Random rnd = new Random(5);
                while (true) {
                    int w = 20 + rnd.nextInt(179);
                    inbox.put(new Swap(wards[w], wards[w + 1], rnd.nextInt(21)));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "inbox").start();
        while (true) {
            Thread.sleep(500);
            System.out.println("done " + p.swapped.sum());
        }
    }
}
