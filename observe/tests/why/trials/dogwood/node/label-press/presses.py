"""The presses of the hall: each takes a label from its device file, prints it for a while and is ready for the next."""
import os
import sys
import threading
import time


def press(path):
    while True:
        with open(path, "rb") as device:
            device.read()
        time.sleep(0.1)


for n in range(16):
    path = os.path.join(sys.argv[1], f"press{n}")
    threading.Thread(target=press, args=(path,), daemon=True).start()
threading.Event().wait()
