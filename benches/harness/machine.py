"""Description of the measured machine. Its name is the same on all machines of the same kind."""

import os
import platform
import re
import subprocess


def describe():
    with open("/proc/cpuinfo") as f:
        text = f.read()
    model = re.search(r"model name\s*: (.*)", text)
    number = re.search(r"^model\s*: (\d+)", text, re.M)
    with open("/proc/meminfo") as f:
        memory = int(f.readline().split()[1]) // 2**20 + 1
    flags = re.search(r"flags\s*: (.*)", text)
    cpu = re.sub(r"\((R|TM|r|tm)\)|CPU|Processor|@.*", " ", model.group(1) if model else platform.machine())
    cores = os.cpu_count()
    name = re.sub(r"[^a-z0-9]+", "-", f"{cpu} m{number.group(1) if number else 0} {cores}c".lower()).strip("-")
    return {
        "name": name, "cpu": model.group(1) if model else "", "model": number.group(1) if number else "",
        "cores": cores, "memory_gib": memory,
        "avx512": bool(flags and "avx512bw" in flags.group(1)), "kernel": platform.release(), "load": os.getloadavg(),
    }


def introduce():
    """Describes the machine, and prints it. Returns the description, and whether other programs keep it busy."""
    host = describe()
    print(f"{host['name']}: {host['cores']} cores, {host['memory_gib']} GiB, load {host['load'][0]:.1f}")
    busy = host["load"][0] > 0.5
    if busy:
        print("the machine is busy: CPU seconds are noisy, and wall times mean nothing")
    return host, busy


def commit():
    """Returns the commit of the checkout; `+` says that it had other changes."""
    run = lambda *words: subprocess.run(["git", *words], capture_output=True, text=True,
                                        cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip()
    return run("rev-parse", "--short=12", "HEAD") + ("+" if run("status", "--porcelain", "--untracked-files=no") else "")
