package ferry;

import java.util.*;
import java.util.concurrent.locks.*;

class Harbour {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final Map<Integer, Position> last = new HashMap<>();

    void report(int ferry, Position p) {
        lock.writeLock().lock();
        try {
            last.put(ferry, p);
        } finally {
            lock.writeLock().unlock();
        }
    }

    Optional<Position> of(int ferry) {
        lock.readLock().lock();
        try {
            return Optional.ofNullable(last.get(ferry));
        } finally {
            lock.readLock().unlock();
        }
    }
}
