"""Program of a worker: `python -m yunti.worker JOBFILE`. The engine starts it, with shared memory as standard input.

A job file holds pickled classes. A file that ends in `.py` is run instead; its marked functions are the classes.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Any, Dict, NoReturn

from ..shipping.job_file import traceback_path
from .memory import SharedMemory

#: Options of mallopt.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python -m yunti.worker JOBFILE (`yunti run --worker` starts it)", file=sys.stderr)
        return 2
    parent = os.getppid()
    # User code may read standard input; the memory moves away from it.
    descriptor = os.dup(0)
    os.set_inheritable(descriptor, False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    # ctrl-C goes to the whole process group; the engine ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        memory = SharedMemory(descriptor, lambda: os.getppid() != parent)
    except (OSError, ValueError) as e:
        print(f"yunti.worker: standard input is no memory of the engine: {e}: start it by `yunti run --worker`",
              file=sys.stderr)
        return 2
    settle()
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    path = sys.argv[1]
    try:
        classes = load(path)
    except BaseException as e:  # the engine reports it
        return refuse(memory, e, path)
    from .serve import Server

    Server(classes, memory, lambda line, text: report(line, text, path)).run()
    return 0


def settle() -> None:
    """Sets what suits a process that handles batch after batch, beside others of its kind."""
    # Arrays of a batch have some 100 KB. By default the C library returns them to the system each time, and the next
    # batch faults all pages in again: half of the time of `TextBatch.words`.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, 64 << 20)
        mallopt(M_TRIM_THRESHOLD, 128 << 20)
    # Each processor has a worker: threads of libraries would only compete.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(name, "1")


def end_with(parent: int) -> NoReturn:
    """Ends the process soon after the engine, also in the middle of user code."""
    while True:
        time.sleep(0.5)
        if os.getppid() != parent:
            os._exit(1)


def load(path: str) -> Dict[str, Any]:
    """Returns the classes of a job file by name."""
    if path.endswith(".py"):
        return load_source(path)
    from ..shipping.job_file import load as load_file

    return load_file(path)


def load_source(path: str) -> Dict[str, Any]:
    import runpy

    from ..operators import Operator

    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    made = runpy.run_path(path, run_name="yunti_job")
    classes = {each.name: each for each in made.values() if isinstance(each, Operator)}
    if not classes:
        raise ValueError(f"{path} has no mapper and no reducer: mark functions with @y.mapper, @y.record or @y.reducer")
    return classes


def refuse(memory: SharedMemory, e: BaseException, path: str) -> int:
    """Sends the error of a job file that cannot be loaded."""
    from .serve import FAILED, PART, described, failure, summary

    text, line = described(e), summary(e)
    if isinstance(e, ModuleNotFoundError):
        line += f"; the worker runs {sys.executable}"
    report(line, text, path)
    if memory.wait() is not None:
        memory.send(FAILED, 0, [failure(line, text)], PART, last=True)
    return 1


def report(line: str, text: str, path: str) -> None:
    """Prints a traceback, once for all attempts and workers of a job, and leaves it beside the job file."""
    if not path.endswith(".py"):
        try:
            with open(traceback_path(path, line), "x") as file:
                file.write(text)
        except FileExistsError:
            return
        except OSError:
            pass
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
