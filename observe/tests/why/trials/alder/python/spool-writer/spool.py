"""Print spool daemon: three workers append rendered jobs under the spool lock."""
import fcntl
import sys
import threading
import time

count, guard = 0, threading.Lock()


def render(n):
    return ('%%!PS job %d\n' % n + ''.join('%d %d lineto\n' % (i, (i * n) % 792) for i in range(80))).encode()


def worker(folder, me):
    global count
    n = me
    while True:
        job = render(n)
        n += 3
        with open(folder + '/spool.lck', 'a') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with open(folder + '/spool.%d' % me, 'ab' if n % 500 else 'wb') as f:
                f.write(job)
        with guard:
            count += 1
        time.sleep(0.002)


for i in range(3):
    threading.Thread(target=worker, args=(sys.argv[1], i), daemon=True, name='spool-%d' % i).start()
while True:
    time.sleep(1)
    print('done', count, flush=True)
