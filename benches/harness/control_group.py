"""Control group (version 1 or 2) with a memory limit and no swap, like the one of cli/tests/memory.rs."""

import contextlib
import os
import subprocess

ROOT = "/sys/fs/cgroup"


@contextlib.contextmanager
def limited(limit_bytes):
    """Yields the path of a group; None if this user may not create one or the limit has no effect."""
    second = os.path.exists(ROOT + "/cgroup.controllers")
    group = f"{ROOT if second else ROOT + '/memory'}/yunti-bench-{os.getpid()}"
    try:
        os.mkdir(group)
    except OSError:
        yield None
        return
    try:
        holds = _limit(group, second, limit_bytes) and subprocess.run(entering(group, ["true"]),
                                                                      stderr=subprocess.DEVNULL).returncode == 0
        yield group if holds else None
    finally:
        with contextlib.suppress(OSError):  # an interrupted program may still be in the group
            os.rmdir(group)


def entering(group, command):
    """Returns the command that enters the group before it starts `command`."""
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group, *command]


def _limit(group, second, limit_bytes):
    memory, swap = ("memory.max", "memory.swap.max") if second else ("memory.limit_in_bytes",
                                                                     "memory.memsw.limit_in_bytes")
    try:
        _write(f"{group}/{memory}", limit_bytes)
    except OSError:
        return False
    try:
        _write(f"{group}/{swap}", 0 if second else limit_bytes)  # in version 1, the limit includes memory
        return True
    except OSError:
        return not _has_swap()


def _write(path, number):
    with open(path, "r+") as f:  # without creating the file: its absence means no such limit
        f.write(str(number))


def _has_swap():
    with open("/proc/swaps") as f:
        return len(f.readlines()) > 1
