"""A table that is open until `close` or the end of its `with` block: of a file, or of servers."""

from __future__ import annotations

from typing import Any, Generic, Optional, TypeVar

_State = TypeVar("_State")
_Self = TypeVar("_Self", bound="Closeable[Any]")


class Closeable(Generic[_State]):
    """Holds what a table needs while it is open. Rows and columns refer to it too, so that they outlive `close`."""

    def __init__(self, place: str, state: _State) -> None:
        self._place = place
        self._state: Optional[_State] = state

    def _open(self) -> _State:
        if self._state is None:
            raise ValueError(f"the table is closed: {self._place}")
        return self._state

    def close(self) -> None:
        """Closes the table. Rows and columns stay valid."""
        self._state = None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


__all__ = ["Closeable"]
