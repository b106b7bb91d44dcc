"""Inputs under build/bench-data, created once by `yunti generate`, or else by the generator of the limit programs."""

import os
import shutil
import subprocess

from . import commands

DATA = os.path.join(commands.ROOT, "build/bench-data")


def of(row, scale):
    """Returns the folder with the data of a row, at a scale of its size."""
    return prepare(row.data, 6 if row.data == "six-bytes" else max(6, int(row.bytes * scale) // 100 * 100))


def prepare(kind, size):
    """Returns the folder with this kind and size (bytes) of data. Name and files are the same in every run."""
    folder = f"{DATA}/{kind}-{size}"
    if os.path.exists(folder):
        return folder
    os.makedirs(DATA, exist_ok=True)
    if kind == "six-bytes":
        os.makedirs(folder)
        with open(folder + "/six", "wb") as f:
            f.write(b"a b a\n")
        return folder
    name, _, ascii_form = kind.partition("-")
    amount = ["--records", str(size // 100)] if name == "tera" else ["--bytes", str(size)]
    arguments = [name, *amount, "--output", folder + ".part", *(["--ascii"] if ascii_form else [])]
    makers = [[commands.YUNTI, "generate"], [commands.LIMITS + "/gen"]]
    for maker in makers:
        shutil.rmtree(folder + ".part", ignore_errors=True)
        if os.path.exists(maker[0]) and subprocess.run(maker + arguments).returncode == 0:
            for extra in os.listdir(folder + ".part"):
                if extra.startswith(("_", ".")):  # markers and reports are not data
                    path = f"{folder}.part/{extra}"
                    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
            os.rename(folder + ".part", folder)
            with open(folder + ".maker", "w") as f:
                f.write(" ".join(os.path.basename(m) for m in maker))
            return folder
    raise SystemExit(f"no generator for {kind} is built: build dist/bin/yunti or benches/limits")


def maker(folder):
    path = folder + ".maker"
    return open(path).read() if os.path.exists(path) else "harness"


def files(folder):
    return [f"{folder}/{n}" for n in sorted(os.listdir(folder)) if not n.startswith(("_", "."))]


def bytes_of(folder):
    return sum(os.path.getsize(path) for path in files(folder))


def eighth(folder):
    """Returns a budget of an eighth of the data in bytes, at least the 4 MiB that every job needs."""
    return max(4 << 20, bytes_of(folder) // 8)


def remove_large(folder):
    """Removes data of more than 4 GB."""
    if bytes_of(folder) > 4e9:
        shutil.rmtree(folder)


def into_page_cache(folder):
    buffer = bytearray(4 << 20)
    for path in files(folder):
        with open(path, "rb", buffering=0) as f:
            while f.readinto(buffer):
                pass
