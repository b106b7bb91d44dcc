"""Serves functions of Python to a query: docs/formats/sql-functions.md.

A thread answers each connection, so that calls of several threads of the program wait for each other only where
Python's interpreter lock makes them.
"""

from __future__ import annotations

import os
import struct
import threading
import traceback
from typing import Any, Dict, List, Optional, Tuple

import pyarrow as pa

from .child import path_of
from .functions import Function

#: Connections, at most: Python runs one thread at a time, except in pyarrow and NumPy.
CONNECTIONS_MAX = 8

_HEAD = struct.Struct("<IIQ")
_DESCRIBE, _CALL = 1, 2
_RESULT, _ERROR = 0, 1
_VERSION = 1


class Server:
    """Answers the calls of one query."""

    def __init__(self, functions: Dict[str, Function], threads: int) -> None:
        self.names = list(functions)
        self.functions = list(functions.values())
        #: The first exception of a function.
        self.failed: Optional[BaseException] = None
        #: Ends of the program, and our own: requests, answers.
        self._theirs: List[Tuple[int, int]] = []
        self._threads: List[threading.Thread] = []
        for n in range(max(1, min(threads, CONNECTIONS_MAX))):
            (requests, to_us), (to_them, answers) = os.pipe(), os.pipe()
            self._theirs.append((to_us, to_them))
            self._threads.append(threading.Thread(target=self._serve, args=(requests, answers), daemon=True,
                                                  name=f"yunti-functions-{n}"))
        # Threads hold the server until the ends of the program are closed.
        for thread in self._threads:
            thread.start()

    def flags(self) -> List[str]:
        """Returns the flags of the program that name the connections."""
        return [word for requests, answers in self._theirs
                for word in ("--functions", f"{path_of(requests)},{path_of(answers)}")]

    def ends(self) -> List[int]:
        """Returns the descriptors for the program."""
        return [end for ends in self._theirs for end in ends]

    def started(self) -> None:
        """Closes the ends of the program here, once it has them."""
        for end in self.ends():
            os.close(end)
        self._theirs = []

    def end(self) -> Optional[BaseException]:
        """Takes leave of a program that has ended. Returns the first exception of a function.

        A thread ends with the next look at its connection; one whose function still computes, after it.
        """
        self.started()
        return self.failed

    def _serve(self, requests: int, answers: int) -> None:
        # Without a buffer, so that nothing is left to write when the query has ended.
        with os.fdopen(requests, "rb") as source, os.fdopen(answers, "wb", buffering=0) as sink:
            try:
                while True:
                    head = source.read(_HEAD.size)
                    if len(head) < _HEAD.size:
                        return
                    kind, number, length = _HEAD.unpack(head)
                    payload = source.read(length)
                    if len(payload) < length:
                        return
                    answer, parts = self._answer(kind, number, payload)
                    head = _HEAD.pack(answer, number, sum(len(part) for part in parts))
                    for part in (head, *parts):
                        view = memoryview(part).cast("B")
                        while view:
                            view = view[sink.write(view) :]
            except BrokenPipeError:
                return  # The query has ended.

    def _answer(self, kind: int, number: int, payload: bytes) -> Tuple[int, List[Any]]:
        try:
            if kind == _DESCRIBE:
                if number != _VERSION:
                    raise RuntimeError(f"the program speaks version {number} of the protocol, this package {_VERSION}")
                schemas = [f.schema(name) for name, f in zip(self.names, self.functions)]
                pieces = [_stream(schema, None) for schema in schemas]
                return _RESULT, [part for piece in pieces for part in (struct.pack("<Q", len(piece)), piece)]
            f = self.functions[number]
            with pa.ipc.open_stream(payload) as reader:
                batch = reader.read_next_batch()
            column = f.column(batch)
            schema = pa.schema([pa.field("result", f.returns)])
            return _RESULT, [_stream(schema, pa.RecordBatch.from_arrays([column], schema=schema))]
        except BaseException as e:  # noqa: B902 - SystemExit in a function ends the query, not a thread.
            if self.failed is None:
                self.failed = e
            text = traceback.format_exception_only(type(e), e)[-1].strip().splitlines()
            line = text[0] if text else type(e).__name__
            # Without the frame of this module.
            trace = e.__traceback__.tb_next.tb_next if e.__traceback__ and e.__traceback__.tb_next else None
            detail = "".join(traceback.format_exception(type(e), e, trace))
            return _ERROR, [f"{line}\n{detail}".encode(errors="replace")]


def _stream(schema: Any, batch: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        if batch is not None:
            writer.write_batch(batch)
    return sink.getvalue()
