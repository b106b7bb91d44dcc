"""Groups that go on over several batches are joined here, so that user code sees whole groups.

```text
  batch 1: a a | b b b        flags MORE            a is reduced, b waits
  batch 2: b b b b            flags MORE, CONT      b waits on
  batch 3: b | c              flags CONT            b is reduced, then c
```
"""

from __future__ import annotations

from array import array
from typing import Any, Iterator, List, Optional

from ..data.columns import Slices, is_array, numpy_or_none

#: The last group goes on in the next batch.
MORE = 1
#: The first group began in the batch before.
CONT = 2


class GroupJoiner:
    """Keeps the values of a group that has not ended. They are copies: the memory of a batch changes."""

    def __init__(self) -> None:
        self._key: Optional[bytes] = None
        self._values: List[Any] = []
        self._value_keys: List[Slices] = []

    def join(self, raw: Any, flags: int) -> Iterator[Any]:
        """Iterates over the whole groups of a batch: the one that ended here, then the others together."""
        begin, end = 0, len(raw.first) - 1
        if flags & CONT and self._key is not None and end > 0:
            self._keep(raw, 0)
            begin = 1
            if end == 1 and flags & MORE:
                return
            yield from self.close()
        if flags & MORE and end > begin:
            end -= 1
        if end > begin:
            yield raw if (begin, end) == (0, len(raw.first) - 1) else _cut(raw, begin, end)
        if flags & MORE and end < len(raw.first) - 1:
            self._key = raw.keys[end]
            self._keep(raw, end)

    def _keep(self, raw: Any, group: int) -> None:
        begin, end = int(raw.first[group]), int(raw.first[group + 1])
        if isinstance(raw.values, Slices):
            self._values.append(_copied(raw.values, begin, end))
        else:
            self._values.append(bytes(raw.values[8 * begin : 8 * end]))
        if raw.value_keys is not None:
            self._value_keys.append(_copied(raw.value_keys, begin, end))

    def close(self) -> Iterator[Any]:
        """Iterates over the open group, if there is one, and forgets it."""
        from .serve import RawGroups

        if self._key is None:
            return
        key = Slices(self._key, array("I", [0]), array("I", [len(self._key)]))
        if numpy_or_none() is not None:
            numpy = numpy_or_none()
            key = Slices(numpy.frombuffer(self._key, numpy.uint8), numpy.array([0], numpy.uint32),
                         numpy.array([len(self._key)], numpy.uint32))
        values = _joined(self._values) if isinstance(self._values[0], Slices) else b"".join(self._values)
        n = len(values) if isinstance(values, Slices) else len(values) // 8
        first: Any = array("I", [0, n]) if not is_array(key.offsets) else numpy.array([0, n], numpy.uint32)
        value_keys = _joined(self._value_keys) if self._value_keys else None
        self._key, self._values, self._value_keys = None, [], []
        yield RawGroups(key, first, values, value_keys)


def _cut(raw: Any, begin: int, end: int) -> Any:
    """Returns the groups from `begin` to before `end`."""
    from .serve import RawGroups

    first, last = int(raw.first[begin]), int(raw.first[end])
    firsts = raw.first[begin : end + 1]
    firsts = firsts - firsts[0] if is_array(firsts) else array("I", [n - first for n in firsts])
    values = raw.values[first:last] if isinstance(raw.values, Slices) else raw.values[8 * first : 8 * last]
    value_keys = None if raw.value_keys is None else raw.value_keys[first:last]
    return RawGroups(raw.keys[begin:end], firsts, values, value_keys)


def _copied(slices: Slices, begin: int, end: int) -> Slices:
    packed = slices.part(begin, end).compact()
    if is_array(packed.offsets):
        return Slices(packed.data.copy(), packed.offsets.copy(), packed.lengths.copy())
    return packed


def _joined(parts: List[Slices]) -> Slices:
    """Returns slices one after the other, in one buffer."""
    if is_array(parts[0].offsets):
        numpy = numpy_or_none()
        starts, at = [], 0
        for part in parts:
            starts.append(part.offsets.astype(numpy.uint32) + numpy.uint32(at))
            at += len(part.data)
        return Slices(numpy.concatenate([part.data for part in parts]), numpy.concatenate(starts),
                      numpy.concatenate([part.lengths for part in parts]))
    items = [item for part in parts for item in part.tolist()]
    from ..data.columns import slices_of_items

    return slices_of_items(items)
