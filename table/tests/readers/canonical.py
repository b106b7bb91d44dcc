"""Canonical text of values and keys: equal values have one text, in all languages.

    null                 -
    bool                 true, false
    integers             -5
    f32, f64             bits as IEEE 754 has them, in hexadecimal: 8 or 16 digits
    utf8, bytes, dict    x, and two hexadecimal digits for each byte
    record, list         {1 x61}  [1 2 -]
    row                  values of all columns, with a blank between them
    key                  values with commas between them; bool as 0 and 1
"""

import struct


def text(shape, value):
    """Returns the text of a value. `shape` has a `kind`, and in `inner` the fields or the element."""
    if value is None:
        return "-"
    kind = shape.kind
    if kind == "bool":
        return "true" if value else "false"
    if kind in ("f32", "f64"):
        return struct.pack(">f" if kind == "f32" else ">d", value).hex()
    if kind in ("utf8", "bytes", "dict"):
        return "x" + (value.encode() if isinstance(value, str) else value).hex()
    if kind == "record":
        return "{" + row(shape.inner, value.values()) + "}"
    if kind == "list":
        return "[" + " ".join(text(shape.inner[0], one) for one in value) + "]"
    return str(value)


def row(shapes, values):
    return " ".join(map(text, shapes, values))


def key(values):
    """Returns the text of the first columns of a key: integers, bool, and bytes of texts."""
    return ",".join("x" + value.hex() if isinstance(value, bytes) else str(int(value)) for value in values)


def values(fields, word):
    """Returns the values of a key, or of its first columns, as Python's readers take them."""
    found = []
    for field, one in zip(fields, word.split(",")):
        if one.startswith("x"):
            found.append(bytes.fromhex(one[1:]))
            if field.kind == "utf8":
                try:
                    found[-1] = found[-1].decode()
                except UnicodeDecodeError:
                    pass  # The reader takes the bytes.
        else:
            found.append(bool(int(one)) if field.kind == "bool" else int(one))
    return found
