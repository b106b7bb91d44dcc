"""Sorts incoming mails into boxes."""
import collections
import os
import queue
import sys
import threading
import time

box = collections.Counter()
lock = threading.Lock()
todo = queue.Queue()
done = 0


def sorter():
    global done
    while True:
        path = todo.get()
        with open(path) as f:
            head = f.read(500)
        os.unlink(path)
        with lock:
            box['spam' if 'prize' in head else 'inbox'] += 1
            done += 1


def postman(folder):
    n = 0
    while True:
        for _ in range(3):
            n += 1
            with open('%s/.new' % folder, 'w') as f:
                f.write('Subject: mail %d %s' % (n, 'prize' if n % 7 == 0 else ''))
            os.rename('%s/.new' % folder, '%s/m%d' % (folder, n))
        time.sleep(0.1)


for i in range(5):
    threading.Thread(target=sorter, daemon=True).start()
threading.Thread(target=postman, args=(sys.argv[1],), daemon=True).start()
last = 0
while True:
    for n in os.listdir(sys.argv[1]):
        if n.startswith('m'):
            os.rename(sys.argv[1] + '/' + n, sys.argv[1] + '/.s' + n)
            todo.put(sys.argv[1] + '/.s' + n)
    if time.time() - last > 1:
        last = time.time()
        print('done', done, flush=True)
    time.sleep(0.1)
