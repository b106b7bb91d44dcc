"""Random types of columns, and their random values: for tests of shared tables."""

import struct

#: Smallest and largest value of each integer.
WHOLE = {f"{sign}{bits}": (-(1 << bits - 1) if sign == "i" else 0, (1 << bits - (sign == "i")) - 1)
         for sign in "iu" for bits in (8, 16, 32, 64)}


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Shape:
    """Random type of a column, and its random values."""

    TEXTS = ["", "a", "Grüße", "世界", "x" * 300, "\0"]

    def __init__(self, rng, depth=0, kinds=None):
        kinds = kinds or ["bool", *WHOLE, "f32", "f64", "utf8", "bytes", *([] if depth else ["dict"]),
                          *(["record", "list"] if depth < 3 else [])]
        self.kind = rng.choice(kinds)
        self.is_nullable = rng.random() < 0.5
        count = {"record": rng.randint(1, 3), "list": 1}.get(self.kind, 0)
        self.inner = [type(self)(rng, depth + 1) for _ in range(count)]

    @property
    def type(self):
        inner = [each.type + "?" * each.is_nullable for each in self.inner]
        if self.kind == "record":
            return f"record<{','.join(f'f{n}:{each}' for n, each in enumerate(inner))}>"
        return f"list<{inner[0]}>" if self.kind == "list" else self.kind

    def value(self, rng):
        if self.is_nullable and rng.random() < 0.3:
            return None
        if self.kind in WHOLE:
            return self.integer(rng)
        if self.kind == "record":
            return {f"f{n}": each.value(rng) for n, each in enumerate(self.inner)}
        if self.kind == "list":
            return [self.inner[0].value(rng) for _ in range(self.count(rng))]
        if self.kind in ("f32", "f64"):
            value = self.number(rng)
            return f32(value) if self.kind == "f32" else value
        return rng.random() < 0.5 if self.kind == "bool" else self.text(rng)

    def count(self, rng):
        return rng.choice([0, 1, 2, 3, 9])

    def integer(self, rng):
        least, most = WHOLE[self.kind]
        return rng.choice([least, most, 0, rng.randint(least, most)])

    def number(self, rng):
        return rng.choice([0.0, -1.5, rng.randint(-10**6, 10**6) / 64, 1e30])

    def text(self, rng):
        return rng.choice(self.TEXTS)

    def known(self, value):
        """Returns a value as the table has it: bytes are text in JSON."""
        if value is None:
            return None
        if self.kind == "record":
            return {f"f{n}": each.known(value[f"f{n}"]) for n, each in enumerate(self.inner)}
        if self.kind == "list":
            return [self.inner[0].known(one) for one in value]
        return value.encode() if self.kind == "bytes" else value
