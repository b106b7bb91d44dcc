"""The program `yunti`: where it is, how it runs a job, and what its failures mean.

Workers import this module too, so what only a caller needs is imported where it is used.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    import subprocess

#: Seconds in which the program ends by itself after ctrl-C in a terminal, which signals it too. A second signal would
#: end it without cleaning up.
GRACE_SECONDS = 10.0


class JobError(Exception):
    """Error of a job. Its text has the traceback of user code, if user code failed.

    `code` is the kind of the error, as `user_code`; docs/guide/exit-codes.md lists them.
    """

    def __init__(self, message: str, code: str = "internal", exit_code: int = 1, path: Optional[str] = None,
                 offset: Optional[int] = None, hint: Optional[str] = None) -> None:
        self.message, self.code, self.exit_code = message, code, exit_code
        #: Input file, and the byte of the batch that failed (in the decompressed file).
        self.path, self.offset = path, offset
        self.hint = hint
        #: Traceback of user code; empty for other errors.
        self.traceback = ""
        super().__init__(message)

    def __str__(self) -> str:
        text = f"{self.traceback}\n  {self.message}" if self.traceback else self.message
        if self.path:
            at = f", in the batch at byte {self.offset}" if self.offset is not None else ""
            text += f"\n  in {self.path}{at}"
        if self.hint:
            text += f"\n  {self.hint}"
        return text

    def __reduce__(self) -> Any:
        arguments = (self.message, self.code, self.exit_code, self.path, self.offset, self.hint)
        return (JobError, arguments, {"traceback": self.traceback})


def program() -> str:
    """Returns the path of the program: `YUNTI`, or the one in the package, or the first in `PATH`.

    Raises `FileNotFoundError` if there is none.
    """
    named = os.environ.get("YUNTI")
    if named:
        return os.path.abspath(named)
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "yunti")
    if os.path.exists(inside):
        return inside
    import shutil

    found = shutil.which("yunti")
    if found and _is_program(found):
        return found
    raise FileNotFoundError("the program yunti is not in this package and not in PATH: set YUNTI to its path")


def _is_program(path: str) -> bool:
    """Returns True for a binary: pip installs a script of the same name, which would call itself."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def environment() -> Dict[str, str]:
    """Returns the environment of the program: workers find this package where the caller found it.

    They have the same seed for `hash`, so that partitioners may use it, and sets of texts have one order in all attempts.
    """
    import site

    env = dict(os.environ)
    env.setdefault("PYTHONHASHSEED", "0")
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = [os.path.abspath(p) for p in [*site.getsitepackages(), site.getusersitepackages()]]
    if here not in installed:
        env["PYTHONPATH"] = os.pathsep.join([here, *filter(None, [env.get("PYTHONPATH")])])
    return env


def run(arguments: List[str]) -> bytes:
    """Runs the program. Returns what it printed on standard output; its messages go to standard error.

    Raises `JobError`, or `KeyboardInterrupt` after ctrl-C, once the program has ended.
    """
    import subprocess

    process = subprocess.Popen([program(), *arguments], stdout=subprocess.PIPE, env=environment())
    try:
        output, _ = process.communicate()
    except BaseException:
        _stop(process)
        raise
    if process.returncode != 0:
        raise error_of(output, process.returncode)
    return output


def _stop(process: "subprocess.Popen[bytes]") -> None:
    import signal
    import subprocess

    try:
        # A notebook interrupts its kernel alone.
        process.communicate(timeout=GRACE_SECONDS if _in_terminal() else 0)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.communicate()


def _in_terminal() -> bool:
    """Returns True if ctrl-C reaches the program as well: it is in the foreground of a terminal with this process."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def error_of(output: bytes, exit_code: int) -> JobError:
    """Returns the error that the program printed as JSON."""
    try:
        error = json.loads(output)["error"]
    except (ValueError, KeyError, TypeError):
        return JobError(f"yunti ended with exit code {exit_code}; its message is on standard error",
                        exit_code=exit_code)
    made = JobError(error["message"], error["code"], error["exit_code"], error.get("path"), error.get("offset"),
                    error.get("hint"))
    made.traceback = error.get("detail") or ""
    return made


def worker_command(job_file: str) -> str:
    """Returns the command of a worker for `--worker`."""
    return command_of(sys.executable, "-m", "yunti.worker", job_file)


def command_of(*words: str) -> str:
    """Returns words as one command; the program divides it as a shell does, without escapes."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    quote = '"' if "'" in word else "'"
    return f"{quote}{word}{quote}" if not word.isalnum() else word
