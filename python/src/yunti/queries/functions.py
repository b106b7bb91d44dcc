"""Functions of Python in queries: their types, and calls of them with columns of Arrow."""

from __future__ import annotations

import datetime
import functools
import inspect
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import pyarrow as pa

from ..data.types import Type, type_named


class Function:
    """A function of a query: columns of Arrow in, one column of as many values out. `y.function` makes one.

    It is called like the plain function.
    """

    def __init__(self, f: Callable[..., Any], args: Optional[Sequence[Any]], returns: Any, pure: bool) -> None:
        functools.update_wrapper(self, f)
        self.f, self.pure = f, pure
        self.name = getattr(f, "__name__", type(f).__name__)
        known = None if args is not None and returns is not None else _annotations(f)
        self.args: List[pa.DataType] = []
        for n, declared in enumerate(known[0] if args is None else args):  # type: ignore[index]
            self.args.append(arrow_type(declared, f"argument {n + 1} of {self.name}"))
        self.returns = arrow_type(known[1] if returns is None else returns,  # type: ignore[index]
                                  f"the result of {self.name}")

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.f(*args, **named)

    def __repr__(self) -> str:
        return f"<function {self.name}({', '.join(map(str, self.args))}) of a query, returns {self.returns}>"

    def schema(self, name: str) -> pa.Schema:
        """Returns the description for the program: the arguments, and the result as the last field."""
        fields = [pa.field(f"a{n}", kind) for n, kind in enumerate(self.args)]
        pure = "true" if self.pure else "false"
        return pa.schema([*fields, pa.field("result", self.returns)], {"name": name, "pure": pure})

    def column(self, batch: pa.RecordBatch) -> pa.Array:
        """Calls the function with the columns of a batch. Returns a column of the declared type.

        A function without arguments cannot know the number of rows: it is called for each.
        """
        if not self.args:
            return column_of([self.f() for _ in range(batch.num_rows)], self.returns, batch.num_rows)
        return column_of(self.f(*batch.columns), self.returns, batch.num_rows)


def function(f: Optional[Callable[..., Any]] = None, *, args: Optional[Sequence[Any]] = None, returns: Any = None,
             pure: bool = True) -> Any:
    """Declares the types of a function for `y.sql`; annotations of the function do the same.

    Types are those of pyarrow, of Python (`int`, `float`, `str`, ..) or of this package (`y.i32`, ..). `pure=False`
    says that equal arguments may have other results: each row is then computed.

    >>> import pyarrow as pa, pyarrow.compute as pc
    >>> import yunti as y
    >>> @y.function(args=[str], returns=pa.int32())
    ... def size(texts):
    ...     return pc.binary_length(texts)
    >>> size
    <function size(string) of a query, returns int32>
    """
    if f is None:
        return lambda f: Function(f, args, returns, pure)
    return Function(f, args, returns, pure)


def as_functions(given: Dict[str, Any]) -> Dict[str, Function]:
    """Returns functions by their names in queries."""
    for name in given:
        if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*", name):
            raise ValueError(f"{name!r} is no name for a function: use letters, digits and underscores")
    return {name: f if isinstance(f, Function) else function(f) for name, f in given.items()}


def _annotations(f: Callable[..., Any]) -> Tuple[List[Any], Any]:
    """Returns the annotations of parameters and of the result."""
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        raise TypeError(f"{f!r} has no signature: declare types with y.function(f, args=[..], returns=..)") from None
    names = getattr(inspect.unwrap(f), "__globals__", {})

    def of(annotation: Any, what: str) -> Any:
        if annotation is inspect.Signature.empty:
            raise TypeError(f"{what} of {f.__name__} has no type: annotate it, or declare it by y.function(f, ..)")
        return eval(annotation, names) if isinstance(annotation, str) else annotation  # noqa: S307

    parameters = list(signature.parameters.values())
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(f"{f.__name__} has a parameter {parameter}: a function of a query takes columns in order")
    return ([of(parameter.annotation, f"parameter {parameter.name}") for parameter in parameters],
            of(signature.return_annotation, "the result"))


@functools.lru_cache(maxsize=None)
def _known_types() -> Dict[Any, pa.DataType]:
    """Returns the types of Arrow by types of Python and by classes of arrays."""
    known: Dict[Any, pa.DataType] = {
        int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary(), bool: pa.bool_(),
        datetime.date: pa.date32(), datetime.datetime: pa.timestamp("us"), datetime.time: pa.time64("us"),
    }
    plain = [pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
             pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.binary(), pa.large_binary(),
             pa.date32(), pa.date64()]
    known.update({type(pa.array([], kind)): kind for kind in plain})
    return known


_OF_YUNTI = {"bytes": pa.binary(), "text": pa.string(), "i32": pa.int32(), "i64": pa.int64(), "u32": pa.uint32(),
             "u64": pa.uint64(), "f32": pa.float32(), "f64": pa.float64()}


def arrow_type(declared: Any, what: str) -> pa.DataType:
    """Returns the type of Arrow that is declared. Raises `TypeError` for anything else."""
    if isinstance(declared, pa.DataType):
        return declared
    if isinstance(declared, str):
        try:
            declared = type_named(declared)
        except ValueError:
            return pa.type_for_alias(declared)
    if isinstance(declared, Type) and declared.name in _OF_YUNTI:
        return _OF_YUNTI[declared.name]
    try:
        return _known_types()[declared]
    except (KeyError, TypeError):
        raise TypeError(f"{what} is declared as {declared!r}: use a type of pyarrow, as pa.float64()") from None


def column_of(result: Any, kind: pa.DataType, rows: int) -> pa.Array:
    """Returns what a function returned as a column of a type; one value stands for all rows."""
    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks() if result.num_chunks != 1 else result.chunk(0)
        if isinstance(result, pa.ChunkedArray):
            result = pa.concat_arrays(result.chunks)
    if isinstance(result, pa.Scalar):
        result = result.as_py()
    if not isinstance(result, pa.Array):
        is_one = result is None or isinstance(result, (str, bytes, int, float, bool, datetime.date, datetime.time))
        if is_one or not hasattr(result, "__len__"):
            result = [result] * rows
        result = pa.array(result, kind)
        if isinstance(result, pa.ChunkedArray):
            result = pa.concat_arrays(result.chunks)
    if result.type != kind:
        result = result.cast(kind)
    if len(result) != rows:
        raise ValueError(f"it returned {len(result)} values for {rows} rows")
    return result
