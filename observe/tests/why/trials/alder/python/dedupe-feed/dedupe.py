"""Removes repeated articles from the feeds of the day."""
import hashlib
import queue
import sys
import threading
import time


class Deduper:
    def __init__(self, kind, n):
        self.seen = kind('%s/%06d' % (hashlib.md5(b'%d' % i).hexdigest()[:8], i) for i in range(n))
        self.new = 0

    def is_new(self, key):
        if key in self.seen:
            return False
        self.new += 1
        return True


def fetch(out):
    n = 0
    while True:
        n += 1
        batch = []
        for k in range(20):
            i = n * 20 + k + 100000000
            batch.append(('%s/%06d' % (hashlib.md5(b'%d' % i).hexdigest()[:8], i), 'title %d' % i))
        out.put(batch)


def main():
    d = Deduper(list if sys.argv[1] == 'list' else set, 20000)
    q = queue.Queue(20)
    threading.Thread(target=fetch, args=(q,), daemon=True, name='fetcher').start()
    done, last, kept = 0, 0, []
    while True:
        for key, title in q.get():
            if d.is_new(key):
                kept.append(title)
                del kept[:-100]
            done += 1
        if time.time() - last > 1:
            last = time.time()
            print('done', done, flush=True)


main()
