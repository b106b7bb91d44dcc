import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

public class TextIndex {
    static final Map<String, Integer> index = new HashMap<>();
    static final AtomicLong indexed = new AtomicLong();

    static void index(String doc) {
        List<String> words = new ArrayList<>();
        for (String w : doc.split(" ")) words.add(w.trim().toLowerCase());
        for (int i = 0; i + 1 < words.size(); i++) {
            String pair = words.get(i) + " " + words.get(i + 1);
            synchronized (index) {
                index.merge(pair, 1, Integer::sum);
            }
        }
        indexed.incrementAndGet();
    }

    public static void main(String[] a) throws Exception {
        BlockingQueue<String> q = new ArrayBlockingQueue<>(100);
        for (int t = 0; t < 4; t++)
            new Thread(() -> {
                try {
                    while (true) index(q.take());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "indexer-" + t).start();
        for (long n = 0;; n++) {
            StringBuilder b = new StringBuilder();
            for (int i = 0; i < 3000; i++) b.append("Word").append((i * 31 + n) % 1000).append(' ');
            q.put(b.toString());
            Thread.sleep(16);
            if (n % 60 == 0) System.out.println("done " + indexed.get());
        }
    }
}
