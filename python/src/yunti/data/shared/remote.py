"""`RemoteTable`: a table of `yunti table serve`, on this host or on others.

docs/guide/tables.md is the guide, docs/formats/table-protocol.md the protocol. A table serves any number of threads.
"""

from __future__ import annotations

import array
import ctypes
import json
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

from .closeable import Closeable
from .columns import TableColumns
from .keys import KeyColumns
from .library import Answer, Handle, functions
from .row import Field, Layout, Row
from .table import TableColumn


class ServerCounters(NamedTuple):
    """Counters of one server, by the names that its page for Prometheus has. `error` says why there are none."""

    address: str
    counters: Dict[str, float]
    error: Optional[str]


class RemoteTable(Closeable[Handle]):
    """A table that servers have, each the whole or a shard of it.

    `table[key]` is the row of a key, a mapping of column names to values. Keys of several columns are tuples. A lookup
    is one exchange with a server: `get_batch` looks up many keys at once. If a server is lost, others of the same shard
    answer.

    Errors are `JobError`; each names the server.
    """

    def __init__(self, name: Optional[str], servers: Union[str, Sequence[str]], token: str = "",
                 tls_ca: Optional[Union[str, "os.PathLike[str]"]] = None, columns: Optional[Sequence[str]] = None,
                 connect_timeout: float = 3.0, timeout: float = 10.0, tls: bool = False) -> None:
        self.name = name
        self.servers = [servers] if isinstance(servers, str) else list(servers)
        if isinstance(columns, str):
            raise TypeError("columns is a list of names")
        request = json.dumps({
            "name": name, "servers": self.servers, "token": token, "timeout": timeout, "connect_timeout": connect_timeout,
            "tls": tls, "tls_ca": None if tls_ca is None else os.fspath(tls_ca),
            "columns": None if columns is None else list(columns),
        }).encode()
        address = ctypes.c_void_p()
        answer = Answer(functions().yunti_remote_open(request, len(request), ctypes.byref(address)))
        described: Dict[str, Any] = json.loads(answer.items(0)[0])
        place = f"{name or 'the only one'} at {', '.join(self.servers)}"
        super().__init__(place, Handle(address.value or 0, functions().yunti_remote_close))
        self._fields = tuple(Field.of(column) for column in described["columns"])
        self._key = tuple(Field.of(column) for column in described["key"])
        self._layout = Layout(self._fields)
        self._key_columns = KeyColumns(self._key)
        self.shards = int(described["shards"])

    @classmethod
    def connect(cls, name: Optional[str], servers: Union[str, Sequence[str]], token: str = "",
                tls_ca: Optional[Union[str, "os.PathLike[str]"]] = None, columns: Optional[Sequence[str]] = None,
                connect_timeout: float = 3.0, timeout: float = 10.0, tls: bool = False) -> "RemoteTable":
        """Opens a table by its name; with None, the only one that the servers have.

        `servers` are addresses: `unix:PATH` or `HOST:PORT`. `tls` is TLS on TCP, with the authorities that the system
        trusts; `tls_ca` is TLS with those of this file (PEM). `columns` are those of rows, all without it. Times are in seconds.
        """
        return cls(name, servers, token, tls_ca, columns, connect_timeout, timeout, tls)

    def __repr__(self) -> str:
        if self._state is None:
            return f"<closed table {self._place}>"
        columns = ", ".join(f"{field.name}:{field.type}" for field in self._fields)
        return f"<table {self._place}: {columns}>"

    @property
    def columns(self) -> List[str]:
        """Names of the columns of rows."""
        return [field.name for field in self._fields]

    @property
    def key(self) -> List[str]:
        """Names of the key's columns, in the order of the key."""
        return [field.name for field in self._key]

    @property
    def schema(self) -> List[TableColumn]:
        """Names and types of the columns of rows."""
        return [TableColumn(field.name, field.type, field.is_nullable, field.name in self.key) for field in self._fields]

    def _rows(self, key: Any, all_rows: bool) -> List[Row]:
        data = self._key_columns.encode(key)
        found = functions().yunti_remote_get(self._open().address, data, len(data), all_rows)
        return [Row(self._layout, row) for row in Answer(found).items(0)]

    def get(self, key: Any, default: Any = None) -> Any:
        """Returns the first row of a key, or `default`."""
        rows = self._rows(key, all_rows=False)
        return rows[0] if rows else default

    def __getitem__(self, key: Any) -> Row:
        rows = self._rows(key, all_rows=False)
        if not rows:
            raise KeyError(key)
        return rows[0]

    def __contains__(self, key: Any) -> bool:
        return bool(self._rows(key, all_rows=False))

    def get_all(self, key: Any) -> List[Row]:
        """Returns all rows of a key, in the order of the input."""
        return self._rows(key, all_rows=True)

    def get_batch(self, keys: Any, columns: Optional[Sequence[str]] = None) -> TableColumns:
        """Looks up many keys; all servers work side by side. Other threads run during it.

        `keys` are as for `SharedTable.get_batch`. `columns` are some of the table's; to receive only these, name them
        when you connect. Returns columns with a value for each key, of its first row, and `found`.
        """
        handle, names = self._open(), self._layout.names
        numbers = list(range(len(self._fields))) if columns is None else [names[name] for name in columns]
        wanted = array.array("I", numbers)
        raw, kept = self._key_columns.batch(keys)
        found = functions().yunti_remote_get_batch(handle.address, ctypes.byref(raw), *wanted.buffer_info())
        del kept
        return TableColumns(Answer(found), [self._fields[n] for n in numbers], has_found=True)


    def server_counters(self) -> List[ServerCounters]:
        """Returns the counters that each server has now, in the order of `servers`. It requests all at the same time.

        A server that is away, or refuses, has no counters and an `error`.
        """
        reports = json.loads(Answer(functions().yunti_remote_report(self._open().address)).items(0)[0])
        return [ServerCounters(one["address"], one.get("counters", {}), one.get("error")) for one in reports]


__all__ = ["RemoteTable", "ServerCounters"]
