"""Programs of a row: Yunti, the limit program, and each peer with its forms of the query."""

import glob
import importlib
import os
import subprocess
import sys

from . import commands
from .measure import Program

PEERS = os.path.join(commands.ROOT, "benches/peers")
VENV = os.path.join(commands.ROOT, "build/bench-venv")
sys.path.insert(0, PEERS)


def ours(row, folder, flags="", **changed):
    """Returns Yunti's program with more flags of commands.py, or None if the binary or class library is not built."""
    template = commands.OURS[row.ours] + flags
    needed = [w for w in template.split() if w.startswith("/")]
    if not all(os.path.exists(p) for p in needed):
        return None
    values = {"reduces": row.reduces, "memory": row.memory} | changed
    return Program("yunti", lambda output: commands.fill(template, input=folder, output=output, **values),
                   row.ours + flags.format(**values))


def limit(row, folder, threads=2):
    if not row.limit:
        return None
    template = commands.LIMIT[row.limit]
    values = {"reduces": row.reduces, "memory": row.memory, "threads": threads}
    return Program("limit", lambda output: commands.fill(template, input=folder, output=output, **values), row.limit)


def build(*parts):
    """Builds the limit programs and the class libraries of the bench."""
    for part in parts or ("limits", "libraries"):
        subprocess.run(["make", "-s", "-C", os.path.join(commands.ROOT, "benches", part), "LEVEL=" + commands.LEVEL],
                       check=True)


def peer(module_name, row, folder):
    """Returns (displayed name, programs by form); no programs if the peer cannot be installed."""
    binary = module_name == "hadoop_local_peer" and row.data == "tera"
    return peer_of(module_name, "binary records" if binary else row.task, folder, row.memory)


def peer_of(module_name, task, folder, memory=0):
    """Returns the same for a key of the peer's TASKS."""
    module = importlib.import_module(module_name)
    if not (install(module.PACKAGES) if module.PACKAGES else module.available()):
        return module.NAME, []
    programs = []
    for form, label in enumerate(module.TASKS[task]):
        programs.append(Program(module.NAME, _command(module, module_name, task, folder, memory, form), label))
    return module.NAME, programs


def _command(module, module_name, task, folder, memory, form):
    if hasattr(module, "command"):
        return lambda output: module.command(task, folder, output, memory, form)
    script = [VENV + "/bin/python", f"{PEERS}/{module_name}.py", task, folder]
    options = ["--form", str(form)] + (["--memory", str(memory)] if memory else [])
    return lambda output: script + [output] + options


_installed = {}


def install(packages):
    """Installs packages once into the bench's own environment. Returns True if all are installed."""
    if not os.path.exists(VENV + "/bin/python"):
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    for package in packages:
        if package not in _installed:
            probe = [VENV + "/bin/python", "-c", f"import importlib.metadata as m; print(m.version('{package}'))"]
            found = subprocess.run(probe, capture_output=True, text=True)
            if found.returncode:
                subprocess.run([VENV + "/bin/python", "-m", "pip", "install", "-q", package])
                found = subprocess.run(probe, capture_output=True, text=True)
            _installed[package] = found.stdout.strip() if found.returncode == 0 else None
        if not _installed[package]:
            return False
    return True


def install_wheel():
    """Installs the wheel of dist/ into the environment. Returns True if there is one."""
    wheels = glob.glob(os.path.join(commands.ROOT, "dist/yunti-*.whl"))
    return len(wheels) == 1 and subprocess.run(
        [VENV + "/bin/python", "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheels[0]]).returncode == 0


def versions():
    return {k: v for k, v in _installed.items() if v}
