"""Tag of the wheel: any Python 3, but one kind of machine, because the program is inside."""

import os
import platform
import re
import subprocess

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def glibc_of(program):
    """Returns the newest glibc version that the program's symbols need, as in (2, 34); None if unknown."""
    try:
        names = subprocess.run(["objdump", "-T", program], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    versions = {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", names)}
    return max(versions, default=None)


class WheelTag(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.path.join(self.root, "src/yunti/bin/yunti")
        if not os.path.exists(program):
            raise FileNotFoundError(f"{program} is missing: run `make python`")
        machine, glibc = platform.machine(), glibc_of(program)
        kind = f"manylinux_{glibc[0]}_{glibc[1]}_{machine}" if glibc else f"linux_{machine}"
        build_data["tag"] = f"py3-none-{kind}"
        build_data["pure_python"] = False
