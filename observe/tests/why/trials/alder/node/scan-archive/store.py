"""The hierarchical store: holds a lease on each document; who opens one waits until it is brought back."""
import fcntl
import os
import signal
import sys
import time

signal.signal(signal.SIGIO, signal.SIG_IGN)
docs = []
for i in range(24):
    fd = os.open('%s/scan%02d.tif' % (sys.argv[1], i), os.O_RDWR | os.O_CREAT)
    os.write(fd, b'II*\0' * 2000)
    docs.append([fd, 0.0, False])  # descriptor, asked since, leased
print('ready', flush=True)
while True:
    now = time.time()
    for d in docs:
        if not d[2]:
            try:
                fcntl.fcntl(d[0], fcntl.F_SETLEASE, fcntl.F_WRLCK)
                d[1], d[2] = 0.0, True
            except OSError:
                pass
        elif fcntl.fcntl(d[0], fcntl.F_GETLEASE) != fcntl.F_WRLCK:
            if not d[1]:
                d[1] = now
            elif now - d[1] > 0.1:
                fcntl.fcntl(d[0], fcntl.F_SETLEASE, fcntl.F_UNLCK)
                d[2] = False
    time.sleep(0.004)
