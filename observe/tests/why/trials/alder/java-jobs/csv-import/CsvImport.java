import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;

/** Import of measurements: each cell goes through the chain of cleaning rules. */
public class CsvImport {
    interface Rule { double apply(String cell, int depth); }

    static final AtomicLong lines = new AtomicLong();
    static final DoubleAdder total = new DoubleAdder();
    static final List<String> MARKS = List.of("n/a", "-", "miss", "calib", "");

    static class CellReader {
        final boolean look;

        CellReader(boolean look) { this.look = look; }

        double number(String s) {
            if (look && (s.isEmpty() || !Character.isDigit(s.charAt(0)))) return Double.NaN;
            try {
                return Double.parseDouble(s);
            } catch (NumberFormatException e) {
                return Double.NaN;
            }
        }

        /** units may be nested: cm(mm(x)) */
        double unit(String s, int depth) {
            if (depth > 0) return unit(s, depth - 1) * 1.0;
            return number(s);
        }
    }

    static double line(String l, CellReader r) {
        double sum = 0;
        for (String c : l.split(";", -1)) {
            double d = r.unit(c, 40);
            if (!Double.isNaN(d)) sum += d;
        }
        return sum;
    }

    public static void main(String[] a) throws Exception {
        BlockingQueue<String> q = new ArrayBlockingQueue<>(500);
        List<String> file = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            StringBuilder b = new StringBuilder("17." + i);
            for (int k = 0; k < 15; k++) b.append(';').append(MARKS.get((i + k) % MARKS.size()));
            file.add(b.toString());
        }
        new Thread(() -> {
            try {
                for (int i = 0;; i++) q.put(file.get(i % file.size()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "file-reader").start();
        for (int t = 0; t < 2; t++)
            new Thread(() -> {
                CellReader r = new CellReader(a[0].equals("look"));
                try {
                    while (true) {
                        total.add(line(q.take(), r));
                        lines.incrementAndGet();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "import-" + t).start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + lines.get());
        }
    }
}
