"""Finds subscribers of a telephone company by number: binary search in a sorted file of records of 256 bytes."""
import os
import random
import sys
import threading
import time

RECORD = 256
done = 0


class Book:
    def __init__(self, name):
        self.fd = os.open(name, os.O_RDONLY)
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_RANDOM)
        self.size = os.fstat(self.fd).st_size // RECORD

    def find(self, number):
        low, high = 0, self.size - 1
        while low <= high:
            mid = (low + high) // 2
            record = os.pread(self.fd, RECORD, mid * RECORD)
            at = int(record[:20])
            if at == number:
                return record[20:80].decode().strip()
            if at < number:
                low = mid + 1
            else:
                high = mid - 1
        return None


def report():
    while True:
        time.sleep(0.5)
        print("done", done)


def main():
    global done
    book = Book(sys.argv[1])
    threading.Thread(target=report, daemon=True).start()
    missing = 0
    while True:
        if book.find(random.randrange(800000)) is None:
            missing += 1
        done += 1


main()
