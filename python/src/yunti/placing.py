"""Partitioners and key orders: which part a record goes to, and the order of its key."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

from .data.batch import Batch
from .data.columns import as_list, is_array, length_of
from .data.ordered import OrderedKeys
from .data.types import Type, none, type_of
from .operators import Operator, marked


class Placing(Operator):
    """Operator that gets a batch of emitted records. `keys` and `values` declare their types."""

    def __init__(self, made_of: Any, name: Optional[str], keys: Any, values: Any) -> None:
        super().__init__(made_of, (none, none), name)
        #: Declared types, or None: the job takes them from its mapper.
        self.keys = None if keys is None else type_of(keys)
        self.values = None if values is None else type_of(values)
        self.takes = (self.keys, self.values)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def take(self, out: Tuple[Type, Type]) -> None:
        """Sets the types that come in to those of a mapper, except where they are declared."""
        self.takes = (self.keys or out[0], self.values or out[1])


class Partitioner(Placing):
    """Partitioner: it takes a batch and the number of parts, and returns the number of a part for each record."""

    kind = 5
    method = "partition"

    def __call__(self, batch: Batch, parts: int) -> Any:
        return self.new()[0](batch, parts)

    def run(self, call: Callable[..., Any], batch: Batch, parts: int) -> Any:
        """Returns the parts of the records of a batch, checked, as bytes of u32."""
        n = len(batch)
        chosen = call(batch, parts)
        if length_of(chosen) < 0:
            chosen = [chosen] * n
        if len(chosen) != n:
            raise ValueError(f"{self.name} returned {len(chosen)} parts for {n} records")
        if is_array(chosen):
            import numpy as np

            if chosen.dtype.kind not in "iu":
                raise TypeError(f"{self.name} returned a column of {chosen.dtype}: the parts are whole numbers")
            wrong = chosen[(chosen < 0) | (chosen >= parts)]
            if len(wrong) == 0:
                return np.ascontiguousarray(chosen, np.uint32)
            raise self._outside(wrong[0], parts)
        from array import array

        items = as_list(chosen)
        for item in items:
            if not isinstance(item, int):
                raise TypeError(f"{self.name} returned a {type(item).__name__}: the parts are whole numbers")
            if not 0 <= item < parts:
                raise self._outside(item, parts)
        return array("I", items)

    def _outside(self, part: Any, parts: int) -> ValueError:
        return ValueError(f"{self.name} returned {part} for {parts} parts: return 0 to {parts - 1}")


class KeyOrder(Placing):
    """Key order: it takes a batch, and returns a form for each key; the engine sorts forms byte by byte."""

    kind = 8
    method = "arrange"

    def __init__(self, made_of: Any, name: Optional[str], keys: Any, values: Any, groups: bool) -> None:
        super().__init__(made_of, name, keys, values)
        #: True if a part of the form defines a group.
        self.groups = groups

    def __call__(self, batch: Batch) -> Any:
        return self.new()[0](batch)

    def run(self, call: Callable[..., Any], batch: Batch) -> Tuple[Any, Optional[List[int]]]:
        """Returns the forms of a batch, and the bytes of each that define its group; None: all."""
        n = len(batch)
        forms = call(batch)
        lengths = forms.group_lengths if isinstance(forms, OrderedKeys) else None
        if isinstance(forms, OrderedKeys):
            forms = forms.tolist()
        if length_of(forms) != n:
            raise ValueError(f"{self.name} returned {max(length_of(forms), 0)} forms for {n} records")
        if lengths is not None and not self.groups:
            raise ValueError(f"{self.name} calls group(): declare @y.key_order(groups=True)")
        if self.groups and lengths is None:
            raise ValueError(f"{self.name} declares groups=True: return y.OrderedKeys with a group()")
        return forms, lengths


def partitioner(function: Any = None, *, keys: Any = None, values: Any = None, name: Optional[str] = None) -> Any:
    """Marks a function, or a class with `partition`, as a partitioner of batches.

    It takes a batch (`y.Batch`) and the number of parts. It returns a column of whole numbers from 0 to parts - 1, or
    one number for all. Equal keys must get equal numbers in every process; workers of a job have the same
    `PYTHONHASHSEED`, so `hash` will do. `keys` and `values` are the types that come in; a job takes them from its mapper.

    >>> import yunti as y
    >>> @y.partitioner
    ... def by_length(b: y.Batch, parts):
    ...     return [len(key) % parts for key in b.keys]
    >>> by_length(y.Batch(None, [b"a", b"bc"], [1, 2]), 2)
    [1, 0]
    """
    return marked(function, lambda made_of: Partitioner(made_of, name, keys, values))


def key_order(function: Any = None, *, groups: bool = False, keys: Any = None, values: Any = None,
              name: Optional[str] = None) -> Any:
    """Marks a function, or a class with `arrange`, as a key order.

    It takes a batch of records and returns a form for each: `y.OrderedKeys`, or a column of bytes. The engine sorts
    the forms byte by byte; equal forms are one group and keep the order of emission. With `groups=True`, the parts
    before `group()` alone define the group.

    >>> import yunti as y
    >>> @y.key_order
    ... def ignoring_case(b: y.Batch):
    ...     return y.OrderedKeys().text([key.lower() for key in b.keys])
    >>> ignoring_case(y.Batch(None, [b"B", b"a"], [1, 2])).tolist()
    [b'b\\x00\\x00', b'a\\x00\\x00']
    """
    return marked(function, lambda made_of: KeyOrder(made_of, name, keys, values, groups))


def as_placing(flag: str, given: Any) -> Placing:
    """Returns a marked function as it is, and a plain function as what the flag names."""
    kind = Partitioner if flag == "partitioner" else KeyOrder
    if isinstance(given, kind):
        return given
    if isinstance(given, Operator) or not callable(given):
        raise TypeError(f"{given!r} is no {flag.replace('_', ' ')}: mark a function with @y.{flag}")
    return partitioner(given) if kind is Partitioner else key_order(given)


__all__ = ["KeyOrder", "Partitioner", "Placing", "as_placing", "key_order", "partitioner"]
