"""Datasets: jobs as chains of steps, as in `y.read("logs/").flat_map(words).count().top(20)`.

Steps up to a sum, a sort or another barrier are one job. Nothing runs before a result is wanted.

```text
  read -> map, filter, flat_map .. | count, sum, sort, reduce .. | map .. | ..
          one mapper               | folder or reducer           | the next job reads framed records
```
"""

from __future__ import annotations

import heapq
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple
from typing import Type as Type_

from .data.batch import Batch
from .data.types import Out, Type, bytes_, f64, i64, none, one, slice_, type_of, types_of
from .data.columns import Records, Slices, as_list, decode, length_of
from .folder import Folder
from .formats import Reader
from .jobs import Job, Path, Paths, Result, check_flags, execute
from .operators import Mapper, Operator, RecordMapper, as_reducer, gathered
from .results.table import Table

#: Keyword arguments that belong to the input alone.
_OF_INPUT = ("input_format", "key_columns", "value_columns")


class Step(NamedTuple):
    """Step of a chain: its kind, and the function."""

    kind: str  # mapper, map, flat_map, filter
    function: Any


class Chain(Mapper):
    """Mapper of several steps. Its items are single values (lines, say) or pairs of key and value.

    `keep`: `all`, `keys` alone, or `ones` for keys with the number 1, or `largest` for the N with the largest values.
    """

    def __init__(self, steps: Tuple[Step, ...], takes: Type, out: Tuple[Type, Type], keep: str = "all",
                 largest: int = 0) -> None:
        first = steps[0].function if steps and steps[0].kind == "mapper" else None
        super().__init__(run_steps, out, "chain", "records" if first is None else first.batch)
        self.out = out
        self.steps, self.value_type, self.keep, self.largest = steps, takes, keep, largest

    def new(self) -> Tuple[Callable[..., Any], Any]:
        return run_steps, None

    @property
    def wants_span(self) -> bool:  # type: ignore[override]
        first = self.steps[0] if self.steps else None
        return first is not None and first.kind == "mapper" and first.function.wants_span

    def run(self, call: Callable[..., Any], batch: Batch) -> Iterator[Records]:
        made: Iterable[Records]
        if self.steps and self.steps[0].kind == "mapper":
            first = self.steps[0].function
            first.key_columns, first.value_columns = self.key_columns, self.value_columns
            first.takes = self.takes
            made = first.run(first.new()[0], batch)
            if len(self.steps) > 1:
                made = gathered(pairs_of(run_steps(self.steps[1:], items_of(made, first.out))))
        else:
            made = gathered(pairs_of(run_steps(self.steps, self._items(batch))))
        if self.keep in ("keys", "ones"):
            return (Records(keys, 1 if self.keep == "ones" else None) for keys, _ in made)
        return self._largest(made) if self.keep == "largest" else iter(made)

    def _items(self, batch: Batch) -> Iterator[Any]:
        values = batch.values
        if isinstance(values, Slices) and self.value_type is not none:
            values = decode(values, self.value_type)
        if batch.keys is None:
            return iter(as_list(values))
        return iter(as_list(batch.keys)) if self.value_type is none else zip(as_list(batch.keys), as_list(values))

    def _largest(self, made: Iterable[Records]) -> Iterator[Records]:
        """Keeps the largest of each batch: the caller chooses among them."""
        pairs = [pair for keys, values in made for pair in zip(as_list(keys), _repeated(values, length_of(keys)))]
        return gathered(largest_of(pairs, self.largest))


def _repeated(column: Any, n: int) -> List[Any]:
    return [column] * n if length_of(column) < 0 else as_list(column)


def run_steps(steps: Iterable[Step], items: Iterable[Any]) -> Iterable[Any]:
    """Runs steps of single items, lazily."""
    for kind, function in steps:
        if kind == "map":
            items = map(function, items)
        elif kind == "filter":
            items = filter(function, items)
        elif kind == "flat_map":
            items = _flat(function, items)
        else:
            raise TypeError(f"{function.name} takes batches: it must be the first step after read")
    return items


def _flat(function: Callable[[Any], Iterable[Any]], items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        yield from function(item) or ()


def items_of(made: Iterable[Records], out: Tuple[Type, Type]) -> Iterator[Any]:
    """Iterates over the records of a mapper as items."""
    for keys, values in made:
        if out[1] is none:
            yield from as_list(keys)
        else:
            yield from zip(as_list(keys), _repeated(values, length_of(keys)))


def pairs_of(items: Iterable[Any]) -> Iterator[Tuple[Any, Any]]:
    """Iterates over items as pairs of key and value."""
    return ((item[0], item[1]) if isinstance(item, tuple) and len(item) == 2 else (item, None) for item in items)


def largest_of(pairs: Iterable[Tuple[Any, Any]], n: int, smallest: bool = False) -> List[Tuple[Any, Any]]:
    """Returns the pairs with the largest values; equal values are in the order of their keys.

    >>> largest_of([("a", 1), ("c", 2), ("b", 2)], 2)
    [('b', 2), ('c', 2)]
    """
    if smallest:
        return heapq.nsmallest(n, pairs, key=lambda pair: (pair[1], pair[0]))
    pairs = list(pairs)
    bound = heapq.nlargest(n, (value for _, value in pairs))
    if not bound:
        return []
    candidates = [pair for pair in pairs if pair[1] >= bound[-1]]
    candidates.sort(key=lambda pair: pair[0])
    candidates.sort(key=lambda pair: pair[1], reverse=True)
    return candidates[:n]


class Stage(NamedTuple):
    """Finished part of a chain: a job, without its input."""

    steps: Tuple[Step, ...]
    keep: str
    out: Tuple[Type, Type]
    classes: Dict[str, Any]
    flags: Dict[str, Any]
    result: Tuple[Type, Type]


class Dataset:
    """Records to read and steps to run. Each step returns a new dataset; results run the jobs."""

    def __init__(self, paths: Paths, takes: Type, flags: Dict[str, Any], settings: Dict[str, Any]) -> None:
        self._paths = paths
        self._takes = takes
        self._flags = flags
        self._settings = settings
        self._stages: Tuple[Stage, ...] = ()
        self._steps: Tuple[Step, ...] = ()
        self._out: Optional[Tuple[Type, Type]] = None

    def _copy(self) -> "Dataset":
        made = Dataset(self._paths, self._takes, self._flags, self._settings)
        made._stages, made._steps, made._out = self._stages, self._steps, self._out
        return made

    @property
    def types(self) -> Tuple[Type, Type]:
        """Types of keys and values of the records so far."""
        if self._out is not None:
            return self._out
        if self._stages:
            return self._stages[-1].result
        reader = self._flags.get("input_format")
        if isinstance(reader, Reader):
            return reader.out
        return (bytes_, bytes_) if self._has_keys() else (self._takes, none)

    def _has_keys(self) -> bool:
        """Returns True if the records of the input have keys: all formats but text."""
        given = self._flags.get("input_format", "text")
        if isinstance(given, Operator):
            return True
        format = given.partition(":")[0]
        return format in ("kv", "csv", "csv-no-header", "fixed", "framed") or "key_columns" in self._flags

    def _step(self, kind: str, function: Any, out: Optional[Tuple[Type, Type]]) -> "Dataset":
        made = self._copy()
        made._steps = (*self._steps, Step(kind, function))
        made._out = out
        return made

    def map(self, function: Any, out: Out = None) -> "Dataset":
        """Maps each item to another, by a mapper of batches or a plain function of one item.

        A pair is a key and a value; any other result is a key alone. `out` declares the types of a plain function, by
        default those of its annotation, else bytes.
        """
        return self._mapped("map", function, out)

    def flat_map(self, function: Any, out: Out = None) -> "Dataset":
        """Maps each item to any number of others, by a mapper of batches or a function that returns or yields them."""
        return self._mapped("flat_map", function, out)

    def _mapped(self, kind: str, function: Any, out: Out) -> "Dataset":
        if isinstance(function, RecordMapper):
            if function.wants_key:
                raise TypeError(f"{function.name} takes a key and a value; a step takes one item, which may be a pair")
            by_item = _ByItem(function)
            return self._step("flat_map", by_item, types_of(out) if out is not None else function.out)
        if isinstance(function, Mapper):
            if self._steps:
                raise TypeError(f"{function.name} takes batches: it must be the first step after read")
            if isinstance(function.made_of, type):
                raise TypeError(f"{function.name} is a class: use it in y.job; a step is a function")
            return self._step("mapper", function, function.out)
        if not callable(function):
            raise TypeError(f"{function!r} is no function")
        return self._step(kind, function, types_of(out) if out is not None else _annotated(function))

    def filter(self, function: Callable[[Any], Any]) -> "Dataset":
        """Keeps the items for which the function returns true."""
        return self._step("filter", function, self.types)

    def _barrier(self, keep: str, out: Tuple[Type, Type], classes: Dict[str, Any], flags: Dict[str, Any],
                 result: Tuple[Type, Type]) -> "Dataset":
        made = self._copy()
        made._stages = (*self._stages, Stage(self._steps, keep, out, classes, flags, result))
        made._steps, made._out = (), None
        return made

    def count(self) -> "Dataset":
        """Counts the records of each key."""
        key = self.types[0]
        return self._barrier("ones", (key, one), {"folder": "Yunti.CountFolder"}, {}, (_plain(key), i64))

    def sum(self) -> "Dataset":
        """Adds the values of each key: i64 or f64."""
        return self._folded("sum", {"i64": "Yunti.SumFolder", "f64": "Yunti.SumDoubleFolder"})

    def min(self) -> "Dataset":
        """Finds the smallest value of each key: i64 or f64."""
        return self._folded("min", {"i64": "Yunti.MinFolder", "f64": _SmallestFloat})

    def max(self) -> "Dataset":
        """Finds the largest value of each key: i64 or f64."""
        return self._folded("max", {"i64": "Yunti.MaxFolder", "f64": _LargestFloat})

    def _folded(self, name: str, folders: Dict[str, Any]) -> "Dataset":
        key, value = self.types
        folder = folders.get("i64" if value is one else value.name)
        if folder is None:
            raise TypeError(f"{name}() takes values of i64 or f64, and these are {value}: declare out= in the step before")
        if not isinstance(folder, str):
            folder = type(folder.__name__, (folder,), {"out": (_plain(key), f64)})
        return self._barrier("all", (key, value), {"folder": folder}, {}, (_plain(key), f64 if value is f64 else i64))

    def distinct(self) -> "Dataset":
        """Keeps each key once, in order."""
        key = _plain(self.types[0])
        return self._barrier("keys", (key, none), {"folder": "Yunti.DistinctFolder"}, {}, (key, none))

    def sort(self, descending: bool = False) -> "Dataset":
        """Orders the records by their keys; the order of equal keys stays."""
        key, value = _plain(self.types[0]), _plain(self.types[1])
        flags = {"descending": True} if descending else {"partitioner": "total-order"}
        return self._barrier("all", (key, value), {}, {"mode": "sorted", **flags}, (key, value))

    def reduce(self, reducer: Any, combiner: Any = None) -> "Dataset":
        """Reduces the groups of each key by a function that is marked with `@y.reducer`."""
        made = as_reducer(reducer)
        classes = {"reducer": made, "combiner": combiner}
        return self._barrier("all", self.types, classes, {}, made.out)

    def fold(self, folder: Type_[Folder]) -> "Dataset":
        """Folds the values of each key by a class derived from `y.Folder`."""
        return self._barrier("all", self.types, {"folder": folder}, {}, types_of(folder.out))

    def top(self, n: int = 10, smallest: bool = False) -> Table:
        """Returns the records with the largest values, the largest first; equal values are in the order of keys."""
        if self.types[1] is none:
            raise TypeError("top() orders records by their values, and these have none: count() them, or map them to pairs")
        made = self
        if self._steps and not smallest:
            out = (_plain(self.types[0]), _plain(self.types[1]))
            made = self._barrier(f"largest {n}", out, {}, {"mode": "none"}, out)
        types = made.types
        return Table.of(largest_of(iter(made.table()), n, smallest), types)

    def write(self, output: Path, **flags: Any) -> Result:
        """Runs the jobs and writes the output. Returns the result of the last job."""
        return self.run(output, **flags)

    def run(self, output: Optional[Path] = None, **flags: Any) -> Result:
        """Runs the jobs. Keyword arguments are those of `y.job`, and apply to the last job."""
        check_flags(flags)
        stages = self._stages
        if self._steps or not stages:
            key, value = (_plain(t) for t in self.types)
            stages = (*stages, Stage(self._steps, "all", (key, value), {}, {"mode": "none"}, (key, value)))
        source, takes, result = self._paths, None, None
        for stage in stages:
            is_first, is_last = result is None, stage is stages[-1]
            given = {k: v for k, v in self._flags.items() if is_first or k not in _OF_INPUT}
            if not is_first:
                given["input_format"] = "framed"
            if not is_last:
                given.pop("output_format", None)
            given = {**given, **stage.flags, **(flags if is_last else {})}
            result, takes = self._run_stage(stage, source, takes, output if is_last else None, given, result), stage.result
            source = result.table.path or ""
        assert result is not None
        return result

    def _run_stage(self, stage: Stage, source: Paths, takes: Optional[Tuple[Type, Type]], output: Any,
                   flags: Dict[str, Any], before: Optional[Result]) -> Result:
        keep, _, n = stage.keep.partition(" ")
        is_plain_input = takes is None and not self._has_keys() and self._takes is bytes_
        has_own_class = any(isinstance(given, Operator) for given in flags.values())
        if not stage.steps and not stage.classes and is_plain_input and not has_own_class:
            # Lines that no function changes: the engine moves them.
            application = "sort" if stage.flags["mode"] == "sorted" else "identity"
            words = [application, *(w for k, v in self._settings.items() for w in ("-D", f"{k}={v}"))]
            return execute(words, source, output, flags, (bytes_, none), default_format="text")
        chain: Mapper = Chain(stage.steps, takes[1] if takes else self._takes, stage.out, keep, int(n or 0))
        is_plain = len(stage.steps) == 1 and stage.steps[0].kind == "mapper"
        if is_plain and (keep == "all" or (keep == "ones" and stage.steps[0].function.out[1].size == 8)):
            chain = stage.steps[0].function
        return _Typed(chain, takes, stage, self._settings, flags).run(source, output)

    def table(self) -> Table:
        """Runs the jobs. Returns the records."""
        return self.run().table

    def to_list(self) -> List[Any]:
        """Runs the jobs. Returns the records as a list."""
        return self.table().to_list()

    def to_dict(self) -> Dict[Any, Any]:
        """Runs the jobs. Returns the values by their keys."""
        return self.table().to_dict()

    def to_pandas(self) -> Any:
        """Runs the jobs. Returns the records as a `pandas.DataFrame`."""
        return self.table().to_pandas()

    def to_polars(self) -> Any:
        """Runs the jobs. Returns the records as a `polars.DataFrame`."""
        return self.table().to_polars()

    def to_arrow(self) -> Any:
        """Runs the jobs. Returns the records as a `pyarrow.Table`."""
        return self.table().to_arrow()

    def __repr__(self) -> str:
        steps = [step.kind for stage in self._stages for step in stage.steps] + [step.kind for step in self._steps]
        return f"<dataset of {self._paths!r}: {' '.join(steps) or 'read'} -> ({self.types[0].name}, {self.types[1].name})>"


class _Typed(Job):
    """Job of a stage: its mapper gets the types of the stage before."""

    def __init__(self, mapper: Mapper, takes: Optional[Tuple[Type, Type]], stage: Stage, settings: Dict[str, Any],
                 flags: Dict[str, Any]) -> None:
        classes = {name: made for name, made in stage.classes.items() if made is not None}
        super().__init__(mapper=mapper, settings=settings, **classes, **flags)
        self._takes, self._result = takes, stage.result

    def types(self, flags: Optional[Dict[str, Any]] = None) -> Tuple[Type, Type]:
        return tuple(_plain(t) for t in self._result)  # type: ignore[return-value]

    def _served(self, flags: Dict[str, Any]) -> Dict[str, Any]:
        served = super()._served(flags)
        for made in served.values():
            if isinstance(made, Mapper) and self._takes is not None:
                made.takes = self._takes
        return served


class _ByItem:
    """Function of one item made of one of a record."""

    def __init__(self, mapper: RecordMapper) -> None:
        self.mapper = mapper

    def __call__(self, item: Any) -> Iterable[Any]:
        decoded = item.decode() if self.mapper.value_type.name == "text" and isinstance(item, bytes) else item
        return self.mapper.pairs([self.mapper.made_of(decoded)])


class _SmallestFloat(Folder):
    """Smallest of floating-point values."""

    def init(self, n: int) -> Any:
        return [float("inf")] * n

    def fold(self, states: Any, values: Any) -> Any:
        return list(map(min, states, map(float, values)))

    def merge(self, states: Any, others: Any) -> Any:
        return self.fold(states, others)


class _LargestFloat(_SmallestFloat):
    """Largest of floating-point values."""

    def init(self, n: int) -> Any:
        return [float("-inf")] * n

    def fold(self, states: Any, values: Any) -> Any:
        return list(map(max, states, map(float, values)))


def _plain(declared: Type) -> Type:
    """Returns the type without the way in which it travels."""
    return bytes_ if declared is slice_ else i64 if declared is one else declared


def _annotated(function: Any) -> Tuple[Type, Type]:
    """Returns the types that a function declares by its return annotation, or bytes without values."""
    hint = getattr(function, "__annotations__", {}).get("return")
    if isinstance(hint, str):
        hint = {"str": str, "int": int, "float": float, "bytes": bytes}.get(hint)
    arguments: Any = getattr(hint, "__args__", ())
    try:
        if len(arguments) == 2:
            return type_of(arguments[0]), type_of(arguments[1])
        return (type_of(hint), none) if hint is not None else (bytes_, none)
    except TypeError:
        return bytes_, none


def read(paths: Paths, takes: Any = bytes, settings: Optional[Dict[str, Any]] = None, **flags: Any) -> Dataset:
    """Returns a dataset of files: a path, a glob, a directory, or several. `takes=str` reads lines as text.

    Keyword arguments have the names of the command line, as in `input_format="csv", key_columns="user"`.

    >>> import yunti as y
    >>> y.read("logs/*.gz").map(lambda line: (line[:4], 1), out=(y.bytes, y.i64)).count()
    <dataset of 'logs/*.gz': map -> (bytes, i64)>
    """
    check_flags(flags)
    return Dataset(paths, type_of(takes), flags, dict(settings or {}))


__all__ = ["Chain", "Dataset", "read"]
