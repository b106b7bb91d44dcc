"""Folders: one state for each key. A folder runs as a mapper's last step, a combiner and a reducer.

```text
  mapper: values -> states of one value      combiner: merge      reducer: merge, finish
```
"""

from __future__ import annotations

import pickle
from typing import Any, Callable, Iterator, List, Tuple
from typing import Type as Type_

from .data.batch import Batch, Groups
from .data.types import Type, bytes_, none, slice_, types_of
from .data.columns import Records, Slices, as_list, is_array, length_of
from .operators import Mapper, Reducer


class Folder:
    """Fold of the values of each key into one state. Derive from it, and pass the class as `folder=`.

    `state` is the NumPy type of a state; states are then arrays. Without it, states are lists of any objects. All
    methods handle many states at once. Groups with many values are merged in pairs, so `merge` must be associative.

    >>> class Longest(Folder):
    ...     def init(self, n): return [0] * n
    ...     def fold(self, states, values): return [max(s, v) for s, v in zip(states, values)]
    ...     def merge(self, states, others): return [max(s, o) for s, o in zip(states, others)]
    ...     def finish(self, keys, states): return keys, states
    >>> f = Longest()
    >>> f.merge(f.fold(f.init(2), [1, 5]), [3, 4])
    [3, 5]
    """

    #: NumPy type of a state, as in `[("n", "i8"), ("sum", "f8")]`, or None for objects.
    state: Any = None
    #: Types of keys and values of the result.
    out: Any = None

    def init(self, n: int) -> Any:
        """Returns `n` empty states."""
        raise NotImplementedError

    def fold(self, states: Any, values: Any) -> Any:
        """Adds value `i` to state `i`. Returns the states, or None if it changed them in place."""
        raise NotImplementedError

    def merge(self, states: Any, others: Any) -> Any:
        """Adds the other state `i` to state `i`. Returns the states, or None if it changed them in place."""
        raise NotImplementedError

    def finish(self, keys: Any, states: Any) -> Any:
        """Returns the columns of keys and values for the output."""
        return keys, states


def _packed(folder: Folder, states: Any) -> Any:
    """Returns states as a column of byte strings."""
    if folder.state is None:
        return [pickle.dumps(state, 4) for state in states]
    import numpy as np

    states = np.ascontiguousarray(states, np.dtype(folder.state))
    return states.view(f"V{states.dtype.itemsize}")


def _unpacked(folder: Folder, column: Slices) -> Any:
    if folder.state is None:
        return [pickle.loads(state) for state in column.tolist()]
    import numpy as np

    dtype = np.dtype(folder.state)
    return np.frombuffer(column.packed(dtype.itemsize), dtype).copy()


class StatesOf(Mapper):
    """Mapper whose values become states of one value each."""

    def __init__(self, mapper: Mapper, folder: Type_[Folder]) -> None:
        key = mapper.out[0]
        super().__init__(mapper.made_of, (bytes_ if key is slice_ else key, bytes_), mapper.name, mapper.batch)
        self.mapper, self.folder = mapper, folder

    def new(self) -> Tuple[Callable[..., Any], Any]:
        call, flush = self.mapper.new()
        if flush is None:
            return call, None
        from .operators import results

        return call, lambda: self._states(results(flush(), self.name))

    def run(self, call: Callable[..., Any], batch: Batch) -> Iterator[Records]:
        self.mapper.key_columns, self.mapper.value_columns = self.key_columns, self.value_columns
        return self._states(self.mapper.run(call, batch))

    @property
    def wants_span(self) -> bool:  # type: ignore[override]
        return self.mapper.wants_span

    def _states(self, all_records: Iterator[Records]) -> Iterator[Records]:
        folder = self.folder()
        for keys, values in all_records:
            n = max(length_of(keys), length_of(values))
            column = self._column(values, n)
            states = folder.init(n)
            folded = folder.fold(states, column)
            yield Records(keys, _packed(folder, states if folded is None else folded))

    def _column(self, values: Any, n: int) -> Any:
        """Returns values as an array for states of NumPy, else as a list."""
        declared = self.mapper.out[1]
        if self.folder.state is None or not declared.is_number:
            return [values] * n if length_of(values) < 0 else as_list(values)
        import numpy as np

        return np.full(n, values, declared.dtype) if length_of(values) < 0 else np.asarray(values, declared.dtype)


class MergeOf(Reducer):
    """Combiner that merges states, or reducer that also finishes them."""

    def __init__(self, folder: Type_[Folder], key: Type, finishes: bool) -> None:
        declared = types_of(folder.out) if folder.out is not None else (key, none)
        if finishes and folder.out is None:
            raise TypeError(f"the folder {folder.__name__} declares no types: set out = (y.bytes, y.f64) in it")
        name = folder.__name__ + ("" if finishes else ".states")
        super().__init__(folder, declared if finishes else (key, bytes_), name, pure=True)
        self.finishes = finishes

    def new(self) -> Tuple[Callable[..., Any], Any]:
        return self._merge, None

    def _merge(self, groups: Groups) -> Any:
        folder: Folder = self.made_of()
        states = merged(folder, _unpacked(folder, groups.values), as_list(groups.first))
        if self.finishes:
            return folder.finish(groups.keys, states)
        return groups.keys, _packed(folder, states)


def merged(folder: Folder, states: Any, first: List[int]) -> Any:
    """Returns one state for each group, merged in pairs."""
    if is_array(states):
        import numpy as np

        sizes: Any = np.diff(np.asarray(first, np.int64))
        while len(sizes) and sizes.max() > 1:
            starts = np.cumsum(sizes) - sizes
            places = np.arange(len(states)) - np.repeat(starts, sizes)
            left = np.flatnonzero(places % 2 == 0)
            has_right = (places[left] + 1) < np.repeat(sizes, (sizes + 1) // 2)
            result = states[left]
            both, others = result[has_right], states[left[has_right] + 1]
            done = folder.merge(both, others)
            result[has_right] = both if done is None else done
            states, sizes = result, (sizes + 1) // 2
        return states
    groups = [states[a:b] for a, b in zip(first, first[1:])]
    while any(len(group) > 1 for group in groups):
        lefts = [state for group in groups for state in group[0 : len(group) // 2 * 2 : 2]]
        rights = [state for group in groups for state in group[1::2]]
        done = folder.merge(lefts, rights)
        made = iter(lefts if done is None else done)
        groups = [[*(next(made) for _ in range(len(group) // 2)), *group[len(group) // 2 * 2 :]] for group in groups]
    return [group[0] for group in groups]


__all__ = ["Folder", "MergeOf", "StatesOf", "merged"]
