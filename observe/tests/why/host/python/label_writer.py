"""Labels 4,000 pictures with attributes that do not fit into inodes, so each change goes through the small journal."""

import os
import threading

import run

folder = run.args[0]
paths = [os.path.join(folder, f"picture-{i}") for i in range(4000)]
for path in paths:
    open(path, "w").close()


def mark(number):
    i = number
    while run.going():
        os.setxattr(paths[i % len(paths)], "user.label", f"label {i}, ".encode() * 80)
        i += 1
        run.done()


run.ready()
threads = [threading.Thread(target=mark, args=(n * 1000,)) for n in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
run.finish()
