"""Scores loan applications with the rating model of the day, two workers at a time."""
import argparse
import multiprocessing
import random
import sys
import threading
import time

scored = 0
kept_model = None


def load_model(entries=60_000):
    r = random.Random(11)
    return {"segment-%d" % i: (r.random(), r.random() * 3, i % 17) for i in range(entries)}


def keep(model):
    global kept_model
    kept_model = model


def score(task):
    model, application = task
    model = model or kept_model
    value = 0.0
    for k in range(40):
        weight, slope, kind = model["segment-%d" % ((application["id"] * 31 + k * 977) % len(model))]
        value += weight * application["income"] / (application["debt"] + slope + kind)
    return application["id"], round(value, 4)


def applications(model):
    r = random.Random(5)
    n = 0
    while True:
        n += 1
        yield model, {"id": n, "income": r.randrange(9_000, 90_000), "debt": r.randrange(1, 40_000)}


def speak():
    while True:
        time.sleep(0.5)
        print("total", scored, flush=True)


def main():
    global scored
    a = argparse.ArgumentParser()
    a.add_argument("--model-in-workers", action="store_true")
    o = a.parse_args()
    model = load_model()
    init, args = (keep, (model,)) if o.model_in_workers else (None, ())
    best = []
    gate = threading.Semaphore(64)

    def gated():
        for t in applications(None if o.model_in_workers else model):
            gate.acquire()
            yield t

    with multiprocessing.Pool(2, init, args) as pool:
        threading.Thread(target=speak, daemon=True).start()
        print("ready", flush=True)
        for ident, value in pool.imap(score, gated(), chunksize=1):
            gate.release()
            scored += 1
            best.append((value, ident))
            if len(best) > 5000:
                best = sorted(best)[-100:]


if __name__ == "__main__":
    sys.exit(main())
