package freight;

import java.util.*;

class RateTable {
    private final Map<Long, Double> rates = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Double> e) {
            return size() > 20_000;
        }
    };

    void enter(int from, int to, double km) {
        rates.put(((long) from << 32) | to, 40 + km * 1.15 + Math.max(0, km - 250) * 0.3);
    }
}
