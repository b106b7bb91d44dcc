"""Jobs on a Hadoop cluster: what they ship to their tasks, and the records that they leave there.

```text
  functions        yunti-classes                  pickled; a link in each task's directory
  yunti and cloudpickle   yunti-worker.zip        the program of a worker; Python runs the archive
  environment=     environment/                   an archive of venv-pack or conda-pack, unpacked on each node
```
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List, Optional

from ..data.types import Out
from ..program import command_of
from ..results.table import Table

#: Keyword arguments of a job on a cluster alone.
FLAGS = frozenset(["environment", "python"])
#: Place of the user's environment in a task's directory.
ENVIRONMENT = "environment"
CLASSES, WORKER = "yunti-classes", "yunti-worker.zip"


def is_on(flags: Dict[str, Any]) -> bool:
    """Returns True for a job on a cluster."""
    return str(flags.get("on") or "here") == "yarn"


def check(flags: Dict[str, Any]) -> None:
    """Raises `TypeError` for arguments of a cluster in a job that runs here."""
    for name in FLAGS & set(flags):
        if flags[name] is not None and not is_on(flags):
            raise TypeError(f'{name}= names the Python of the nodes of a cluster: add on="yarn", or leave it out')
    if flags.get("environment") is not None and flags.get("python") is not None:
        raise TypeError("python= and environment= exclude each other: an environment has its own Python")


def arguments(classes: str, folder: str, flags: Dict[str, Any]) -> List[str]:
    """Returns the flags of the program that ship the functions in the file `classes`.

    `folder`: for files that are made here. Raises `FileNotFoundError` if there is no such environment.
    """
    archive = os.path.join(folder, WORKER)
    pack(archive)
    python = os.fspath(flags.get("python") or sys.executable)
    words = ["--ship", f"{classes}#{CLASSES}", "--ship", f"{archive}#{WORKER}"]
    environment = flags.get("environment")
    if environment is not None:
        environment = os.path.abspath(os.fspath(environment))
        if not os.path.isfile(environment):
            raise FileNotFoundError(f"environment: there is no archive {environment}: make one with venv-pack or conda-pack")
        python = f"./{ENVIRONMENT}/bin/python"
        words += ["--archive", f"{environment}#{ENVIRONMENT}"]
    # One seed of `hash` for all tasks, as on one machine: partitioners may use it.
    seed = f"PYTHONHASHSEED={os.environ.get('PYTHONHASHSEED', '0')}"
    return [*words, "--task-worker", command_of("env", seed, python, f"./{WORKER}", f"./{CLASSES}")]


def pack(path: str) -> None:
    """Writes the program of a worker: this package without the program `yunti`, and cloudpickle."""
    import glob
    import zipfile

    import cloudpickle

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        for package in (own, os.path.dirname(os.path.abspath(cloudpickle.__file__))):
            above = os.path.dirname(package)
            for found in sorted(glob.glob(os.path.join(glob.escape(package), "**", "*.py"), recursive=True)):
                archive.write(found, os.path.relpath(found, above))
        archive.writestr("__main__.py", "import sys\n\nfrom yunti.worker.__main__ import main\n\nsys.exit(main())\n")


class ClusterTable(Table):
    """Records of an output on a cluster. The first use copies the part files here, by `hadoop fs -get`."""

    def __init__(self, path: str, format: str, types: Out) -> None:
        super().__init__(path, format, types)
        self._copies: Optional[str] = None

    @property
    def parts(self) -> List[str]:
        """Paths of the copies, in order."""
        import glob
        import shutil
        import subprocess
        import tempfile
        import weakref

        if self._copies is None:
            copies = tempfile.mkdtemp(prefix="yunti-parts-")
            weakref.finalize(self, shutil.rmtree, copies, ignore_errors=True)
            command = ["hadoop", "fs", "-get", f"{self.path}/part-*", copies]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                last = (done.stdout.strip().splitlines() or ["no message"])[-1]
                raise OSError(f"cannot copy the output from the cluster: {self.path}: {last}")
            self._copies = copies
        return sorted(glob.glob(os.path.join(glob.escape(self._copies), "part-*")))


__all__ = ["ClusterTable", "arguments", "check", "is_on", "pack"]
