"""Lists a folder of 5,000 files every three seconds, and sleeps. Nothing is wrong."""

import os
import time

import run

run.ready()
while run.going():
    os.listdir(os.path.join(run.args[0], "many"))
    run.done()
    time.sleep(min(3, float(run.sys.argv[1]) / 2))
run.finish()
