"""Packs photos and hashes them; a thread for each processor."""
import hashlib
import os
import queue
import threading
import time
import zlib

photos = queue.Queue(8)
packed = [0] * (os.cpu_count() or 2)


def feed():
    noise = os.urandom(1 << 18)
    n = 0
    while True:
        n += 1
        cut = n * 4099 % len(noise)
        photos.put((n, (noise[cut:] + noise[:cut]) + bytes(1 << 19)))


def archive(worker):
    index = {}
    while True:
        n, data = photos.get()
        small = zlib.compress(data, 6)
        index[n % 1000] = hashlib.sha256(data).digest(), len(small)
        packed[worker] += 1


def main():
    threading.Thread(target=feed, name="feed", daemon=True).start()
    for w in range(len(packed)):
        threading.Thread(target=archive, args=(w,), name="archive-%d" % w, daemon=True).start()
    print("ready", flush=True)
    while True:
        time.sleep(0.5)
        print("total", sum(packed), flush=True)

main()
