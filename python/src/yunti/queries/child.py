"""The program while it runs a query: rows on a pipe, messages in memory.

    this process                       yunti sql
      query, tables      --memfd-->      its files
      rows               <--pipe---      standard output: an Arrow stream
      one line           <--memfd--      standard error
      functions          <=pipes==>      calls.py

What the two share has no name in a file system, so that nothing is left behind, however one of them ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
from typing import Any, List, Optional, Sequence

from ..program import JobError, environment, program

#: Bytes of the pipe of rows, if the system allows them.
PIPE_BYTES = 1 << 20
#: Seconds in which a cancelled query removes its files before it is killed.
GRACE_SECONDS = 2.0
#: Kinds of errors by exit code: docs/guide/exit-codes.md.
CODES = {2: "usage", 3: "input", 4: "corrupt", 5: "output", 6: "user_code", 7: "memory", 8: "exists", 9: "invalid",
         130: "cancelled"}


def memory_file(name: str, content: bytes = b"") -> int:
    """Returns the descriptor of a file in memory, with this content."""
    file = os.memfd_create(name)
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]
    return file


def path_of(file: int) -> str:
    """Returns the path of a descriptor in the program, which has it under the same number."""
    return f"/proc/self/fd/{file}"


class Child:
    """A run of the program. `files`: descriptors that it gets; they are closed here."""

    def __init__(self, words: Sequence[str], text: str, files: List[int], server: Any = None) -> None:
        self.server = server
        query, self._messages = memory_file("query", text.encode()), memory_file("messages")
        files = [*files, query]
        given = [*files, *(server.ends() if server is not None else [])]
        words = [program(), "sql", *words, "--file", path_of(query), "--json-errors", "--quiet"]
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=self._messages, env=environment(), pass_fds=given)
        except OSError as e:
            os.close(self._messages)
            raise JobError(f"cannot start the query: {e.strerror}", "usage", 2) from None
        finally:
            for file in files:
                os.close(file)
            if server is not None:
                server.started()
        assert self.process.stdout is not None
        self.rows: Any = self.process.stdout
        try:
            fcntl.fcntl(self.rows.fileno(), getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_BYTES)
        except OSError:
            pass  # The limit of the user: rows travel in smaller steps.

    def finish(self) -> None:
        """Waits for the end. Raises `JobError` if the query failed."""
        code = self.process.wait()
        self.rows.close()
        messages = self._take_messages()
        cause = self._end_server()
        if code != 0:
            raise error_of(messages, code) from cause

    def close(self) -> None:
        """Ends the program at once."""
        if self.process.poll() is None:
            # In a terminal, ctrl-C has reached it already; a second signal would end it before it has cleaned up.
            if not _was_interrupted():
                self.process.send_signal(signal.SIGINT)
            self.rows.close()
            try:
                self.process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.rows.close()
        self._take_messages()
        self._end_server()

    def _take_messages(self) -> bytes:
        if self._messages < 0:
            return b""
        os.lseek(self._messages, 0, os.SEEK_SET)
        with os.fdopen(self._messages, "rb") as messages:
            self._messages = -1
            return messages.read()

    def _end_server(self) -> Optional[BaseException]:
        server, self.server = self.server, None
        return server.end() if server is not None else None


def _was_interrupted() -> bool:
    """Returns True within ctrl-C of a terminal, whose foreground this process and the program share."""
    import sys

    if not isinstance(sys.exc_info()[1], KeyboardInterrupt):
        return False
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def error_of(messages: bytes, exit_code: int) -> JobError:
    """Returns the error that the program reported: as JSON, or as its plain last line."""
    lines = messages.decode(errors="replace").splitlines()
    for line in reversed(lines):
        try:
            error = json.loads(line)["error"]
            made = JobError(error["message"], error["code"], error["exit_code"], error["path"], error["offset"],
                            error["hint"])
        except (ValueError, KeyError, TypeError):
            continue
        made.traceback = error.get("detail") or ""
        return made
    if exit_code < 0:
        return JobError(f"yunti sql was ended by {signal.Signals(-exit_code).name}", "internal", 1)
    plain = next((line for line in reversed(lines) if line.strip()), f"yunti sql ended with exit code {exit_code}")
    prefix = "yunti: "
    message = plain[len(prefix) :] if plain.startswith(prefix) else plain
    return JobError(message, CODES.get(exit_code, "internal"), exit_code)
