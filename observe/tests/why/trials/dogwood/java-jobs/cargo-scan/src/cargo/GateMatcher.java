package cargo;

import com.google.common.collect.*;
import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.util.*;

class GateMatcher implements Runnable {
    private final ManifestIndex index;
    private final List<ScanEvent> day;
    private final Random order;
    private final Multiset<Integer> perDepot = HashMultiset.create();
    private long digest;

    GateMatcher(ManifestIndex index, List<ScanEvent> day, int seed) {
        this.index = index;
        this.day = day;
        this.order = new Random(seed);
    }

    @Override
    public void run() {
        while (true) release(day.get(order.nextInt(day.size())));
    }

    private void release(ScanEvent e) {
        String manifest = index.find(e).orElseThrow();
        perDepot.add(e.depot());
        digest ^= Hashing.sipHash24().hashString(manifest + e.at(), StandardCharsets.UTF_8).asLong();
        Main.matched.increment();
    }
}
