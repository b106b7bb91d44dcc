"""Types of keys and values, as a class declares them: `out=(y.bytes, y.i64)`."""

from __future__ import annotations

from typing import Any, Tuple, Union


class Type:
    """Type of a column.

    >>> from yunti import i64
    >>> i64
    yunti.i64
    >>> i64.size
    8
    """

    __slots__ = ("name", "number", "code", "size")

    def __init__(self, name: str, number: int, code: str = "", size: int = 0) -> None:
        #: Name in messages.
        self.name = name
        #: Number in the protocol of workers.
        self.number = number
        #: Format of `struct` and `array`; empty for byte strings.
        self.code = code
        #: Bytes of a value; 0 for byte strings.
        self.size = size

    def __repr__(self) -> str:
        return f"yunti.{self.name}"

    def __reduce__(self) -> Any:
        return (type_named, (self.name,))

    @property
    def dtype(self) -> str:
        """Type of a NumPy column, as in `<i8`."""
        return {"i": "<i4", "q": "<i8", "I": "<u4", "Q": "<u8", "f": "<f4", "d": "<f8"}[self.code]

    @property
    def is_number(self) -> bool:
        return bool(self.code)


none = Type("none", 0)
bytes_ = Type("bytes", 1)
i32 = Type("i32", 2, "i", 4)
i64 = Type("i64", 3, "q", 8)
u32 = Type("u32", 4, "I", 4)
u64 = Type("u64", 5, "Q", 8)
f32 = Type("f32", 6, "f", 4)
f64 = Type("f64", 7, "d", 8)
#: UTF-8: a `str` in Python, bytes in the engine.
text = Type("text", 1)
#: Keys that are slices of the batch: the engine gets their places and copies nothing.
slice_ = Type("slice", 1)
#: The number 1 in each record: the engine gets no values.
one = Type("one", 3, "q", 8)

ALL = {t.name: t for t in (none, bytes_, i32, i64, u32, u64, f32, f64, text, slice_, one)}
#: Types by their number in the protocol.
NUMBERED = (none, bytes_, i32, i64, u32, u64, f32, f64)
#: What a class emits that declares nothing.
DEFAULT_OUT = (bytes_, i64)

Out = Union[Type, type, Tuple[Any, Any], None]


def type_named(name: str) -> Type:
    """Returns the type of a name. Raises `ValueError` for another."""
    if name not in ALL:
        raise ValueError(f"unknown type '{name}': use one of {', '.join(ALL)}")
    return ALL[name]


def type_of(declared: Any) -> Type:
    """Returns a type that is declared by itself, by its name, or by a type of Python.

    >>> type_of(int), type_of("f64"), type_of(str)
    (yunti.i64, yunti.f64, yunti.text)
    """
    if isinstance(declared, Type):
        return declared
    if declared is None:
        return none
    if isinstance(declared, str):
        return type_named(declared)
    of_python = {int: i64, float: f64, bytes: bytes_, str: text}
    if declared in of_python:
        return of_python[declared]
    raise TypeError(f"{declared!r} is no type of a column: use one of {', '.join('y.' + name for name in ALL)}")


def types_of(out: Out) -> Tuple[Type, Type]:
    """Returns the types of keys and values that `out` declares; a single type declares keys without values.

    >>> types_of((str, int))
    (yunti.text, yunti.i64)
    >>> types_of(str)
    (yunti.text, yunti.none)
    """
    if out is None:
        return DEFAULT_OUT
    if isinstance(out, (tuple, list)):
        if len(out) != 2:
            raise TypeError(f"out= declares {len(out)} types; declare two: of keys and of values")
        key, value = type_of(out[0]), type_of(out[1])
    else:
        key, value = type_of(out), none
    if key is one or value is slice_:
        raise TypeError("y.slice is a type of keys, and y.one a type of values")
    if key is slice_ and value.size != 8:
        raise TypeError(f"with keys that are y.slice, values have eight bytes: y.one, y.i64, y.u64 or y.f64, not {value}")
    return key, value
