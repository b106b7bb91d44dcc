"""Texts of values that pyarrow reads, as the formats of Yunti write them: the reference of the tests."""

import datetime
import json
import math

import pyarrow as pa


NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1000, "ns": 1}
# A date that Python has no word for: it is not compared.
BEYOND_PYTHON = object()


class Float:
    """A float, compared by value: its digits depend on the writer."""

    def __init__(self, value, single):
        self.value, self.single = value, single

    def __eq__(self, other):
        return isinstance(other, Float) and self.equals(other.value)

    def equals(self, other):
        if math.isnan(self.value) or not math.isfinite(other):
            return math.isnan(other) == math.isnan(self.value) and (math.isnan(other) or other == self.value)
        kind = pa.float32() if self.single else pa.float64()
        return pa.scalar(other, kind).as_py() == pa.scalar(self.value, kind).as_py()


def text(value, kind):
    """Returns the bytes of a value in a record; None for a null."""
    if value is None:
        return None
    if pa.types.is_nested(kind):
        return nested(value, kind).encode()
    if isinstance(value, bytes):
        return value
    if pa.types.is_floating(kind):
        return Float(float(value), not pa.types.is_float64(kind))
    if pa.types.is_timestamp(kind) and not -62135596800 <= value // 1_000_000_000 < 253402300800:
        return BEYOND_PYTHON
    return plain(value, kind).encode()


def plain(value, kind):
    if pa.types.is_boolean(kind):
        return "true" if value else "false"
    if pa.types.is_decimal(kind):
        return format(value, "f")
    if pa.types.is_timestamp(kind):
        return timestamp(value, kind)
    if pa.types.is_time(kind):
        return clock(value)
    if pa.types.is_date(kind):
        return value.isoformat()
    return str(value)


def timestamp(nanoseconds, kind):
    """`nanoseconds` since 1970, which tables are cast to."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    base = moment.isoformat()
    return base + fraction(rest) + ("Z" if kind.tz else "")


def fraction(nanoseconds):
    if nanoseconds == 0:
        return ""
    for digits in (3, 6, 9):
        if nanoseconds % 10 ** (9 - digits) == 0:
            return f".{nanoseconds // 10 ** (9 - digits):0{digits}}"
    raise AssertionError(nanoseconds)


def clock(nanoseconds):
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}" + fraction(rest)


def nested(value, kind):
    if value is None:
        return "null"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return "[" + ",".join(nested(item, kind.value_type) for item in value) + "]"
    if pa.types.is_map(kind):
        members = []
        for key, item in value:
            name = nested(key, kind.key_type)
            members.append((name if name.startswith('"') else json.dumps(name)) + ":" + nested(item, kind.item_type))
        return "{" + ",".join(members) + "}"
    if pa.types.is_struct(kind):
        members = [json.dumps(f.name, ensure_ascii=False) + ":" + nested(value[f.name], f.type) for f in kind]
        return "{" + ",".join(members) + "}"
    if isinstance(value, bytes):
        return '"' + value.hex() + '"'
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return json.dumps(value, ensure_ascii=False)
    written = plain(value, kind)
    bare = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)
    return written if bare and written not in ("NaN", "inf", "-inf") else json.dumps(written)
