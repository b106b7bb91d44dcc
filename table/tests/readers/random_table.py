"""Random tables from a seed: columns of all types, keys, rows, the flags of their build, and queries with their answers.

Each column has a pool of values, so that a row is a choice of texts that are made: a million rows take seconds.
"""

import csv
import io
import json
import math
import os
import random
import sys
from bisect import bisect_left, bisect_right

import canonical
from key_hash import key_hash

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python/tests"))

from shapes import WHOLE, Shape  # noqa: E402

KEY_KINDS = ("bool", *WHOLE, *WHOLE, *["utf8"] * 6, *["bytes"] * 4)
FIXED_KINDS = ("bool", *WHOLE, "f32", "f64", "dict")
WIDE_KEY_KINDS = ("i64", "u64", "i32", "utf8", "bytes")
#: Numbers of rows; a table of the last has an index of several parts.
SIZES = (0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 100, 300, 1000, 3000)
LARGE_SIZES = (8000, 15_000, 40_000)
HUGE_SIZE = 300_000
#: Values in the pool of a column.
POOL = 300


class Column(Shape):
    """Column with values at the limits of its type: as JSON has them, and bytes of CSV."""

    # Characters of one to four bytes, at the limits of their lengths; no Unicode character; marks that break readers.
    TEXTS = (*Shape.TEXTS, "\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff", "e\u0301", "\u202eabc", "\ufeff",
             "\u2028", '"', "a\"b,c\\d", "\r\n", "\t", " ", "-", "null", "x" * 127, "y" * 128, "z" * 16_384, "🦀" * 40)
    NUMBERS = (0.0, -0.0, 1.5, -1e30, 1e-30, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 1 / 3,
               2.0**53 + 2, math.inf, -math.inf, math.nan)
    SINGLE_NUMBERS = (0.0, -0.0, 1.5, -1e30, 1e-30, 1e-45, -1e-45, 1.1754943508222875e-38, 3.4028234663852886e38, 0.1, 1 / 3,
                      2.0**24 + 2, math.inf, -math.inf, math.nan)

    def number(self, rng):
        if rng.random() < 0.3:
            return rng.uniform(-1e6, 1e6)
        return rng.choice(self.SINGLE_NUMBERS if self.kind == "f32" else self.NUMBERS)

    def count(self, rng):
        # Bits of missing elements in several bytes, and a count of two bytes.
        is_plain = self.inner[0].kind not in ("record", "list")
        return rng.choice([0, 1, 2, 3, 8, 9, 17]) if not is_plain or rng.random() < 0.97 else rng.choice([127, 128, 300])

    def integer(self, rng):
        least, most = WHOLE[self.kind]
        return rng.choice([least, least + 1, most, most - 1, 0, 1, rng.randint(least, most), rng.randint(0, 100)])

    def text(self, rng):
        return rng.choice(self.TEXTS) if rng.random() < 0.4 else random_text(rng)


def random_text(rng):
    if rng.random() < 0.6:
        return f"{rng.randrange(1 << rng.choice([4, 20, 60])):x}"
    # UTF-8 has no surrogates.
    return "".join(chr(rng.choice([rng.randint(0, 127), rng.randint(128, 0xd7ff), rng.randint(0xe000, 0x10ffff)]))
                   for _ in range(rng.randrange(12)))


def json_text(value):
    """Returns a value as JSON; numbers that JSON has not are texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return '"NaN"' if value != value else '"inf"' if value > 0 else '"-inf"'
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f'"{name}": {json_text(inner)}' for name, inner in value.items()) + "}"
    # Every other text has its characters as they are.
    return json.dumps(value, ensure_ascii=not (isinstance(value, str) and len(value) % 2))


def csv_text(shape, value):
    """Returns a value as a field of CSV, in bytes as text (surrogateescape)."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if shape.kind in ("record", "list"):
        return json_text(value)
    return json_text(value).strip('"') if shape.kind in ("f32", "f64", "bool") else str(value)


class RandomTable:
    """Columns, rows and flags of the table of a seed. Values of keys are int, bool, and bytes of texts."""

    def __init__(self, seed, sizes=SIZES):
        rng = self._rng = random.Random(seed)
        size = rng.choice(sizes)
        self.is_large, self.is_huge = size > 5000, size == HUGE_SIZE
        self.is_csv = size == 0 or rng.random() < 0.25
        key_kinds = WIDE_KEY_KINDS if self.is_huge else KEY_KINDS
        self.key = [Column(rng, kinds=key_kinds) for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4]))]
        for column in self.key:
            column.is_nullable = False
        kinds = FIXED_KINDS if rng.random() < 0.3 else None
        if kinds and rng.random() < 0.7:
            self.key = [column for column in self.key if column.kind in WHOLE] or [Column(rng, kinds=["i64"])]
            self.key[0].is_nullable = False
        self.others = [Column(rng, kinds=kinds) for _ in range(rng.randint(0, 2 if self.is_huge else 4 if self.is_large else 9))]
        self.columns = [*self.key, *self.others]
        self.duplicates = None if self.is_huge else rng.choice([None, None, "first", "last", "list"])
        self.is_sorted = rng.random() < 0.6
        self.shard = (rng.randint(1, 3), 3) if size <= 3000 and rng.random() < 0.15 else None
        #: A table in between, which the last build reads.
        self.is_built_twice = size > 0 and rng.random() < 0.1
        self._keys(size)
        self._rows(size)

    # Keys.

    def _keys(self, size):
        rng = self._rng
        styles = [rng.random() for _ in self.key]
        found = {}
        for _ in range(2 * size + 10):
            if len(found) >= size:
                break
            found.setdefault(tuple(self._key_value(column, style, size)
                                   for column, style in zip(self.key, styles)))
        self._all_keys = list(found)
        others = (tuple(self._key_value(column, rng.random(), size) for column in self.key) for _ in range(60))
        # Bytes that are no UTF-8 are a key that no text has.
        odd = tuple(b"\xe4\xb8" if isinstance(value, bytes) else value for value in next(others))
        self._absent = [key for key in [odd, *others] if key not in found]

    def _key_value(self, column, style, size):
        rng = self._rng
        if column.kind == "bool":
            return rng.random() < 0.5
        if column.kind in WHOLE:
            least, most = WHOLE[column.kind]
            if rng.random() < 0.02:
                return rng.choice([least, most, 0])
            return rng.randint(max(least, -size), min(most, size)) if style < 0.4 else rng.randint(least, most)
        if rng.random() < 0.05:
            text = rng.choice(Column.TEXTS)
        elif style < 0.3:
            # Their first eight bytes are equal, so that fences are too.
            text = f"a long begin of {rng.randrange(2 * size + 1)}"
        elif style < 0.5:
            text = f"{rng.randrange(2 * size + 1):x}"
        elif style < 0.6:
            text = f"{rng.randrange(2 * size + 1):0{rng.randint(20, 70)}}"
        else:
            text = random_text(rng)
        if column.kind == "bytes" and self.is_csv and rng.random() < 0.5:
            return rng.randbytes(rng.randrange(20))
        return text.encode()

    # Rows.

    def _rows(self, size):
        rng = self._rng
        pools = [self._pool(column, min(size, POOL)) for column in self.others]
        columns = [iter(rng.choices(pool, k=size)) if size else iter(()) for pool in pools]
        keys = self._all_keys
        if self.duplicates and keys:
            kept = rng.sample(keys, max(1, len(keys) // rng.choice([1, 2, 9])))
            keys = rng.choices(kept, k=size)
        shown = {key: self._shown(key) for key in set(keys)}
        self._source = []
        self.rows = {}
        for key in keys:
            values = [next(column) for column in columns]
            source, text = shown[key]
            self._source.append(source + [value[0] for value in values])
            line = " ".join([text, *[value[1] for value in values]])
            if self.duplicates == "list":
                self.rows.setdefault(key, []).append(line)
            elif self.duplicates != "first" or key not in self.rows:
                self.rows[key] = [line]
        if self.shard:
            self.rows = {key: rows for key, rows in self.rows.items() if self.shard_of(key, 3) == self.shard[0] - 1}
        self.keys = list(self.rows)

    def _pool(self, column, size):
        pool = [self._source_and_text(column, self._value(column)) for _ in range(size)]
        # Many rows have short values, so that their answers fit memory.
        return [each for each in pool if len(each[1]) <= 100] or pool[:1] if self.is_huge else pool

    def _value(self, column):
        value = column.value(self._rng)
        if not self.is_csv:
            return value
        if column.kind == "bytes" and value is not None and self._rng.random() < 0.5:
            value = self._rng.randbytes(self._rng.randrange(1, 30))
        # An empty field of a nullable column is a missing value.
        return None if value == "" and column.is_nullable else value

    def _source_and_text(self, column, value):
        known = value if isinstance(value, bytes) else column.known(value)
        source = csv_text(column, value) if self.is_csv else json_text(value)
        return source, canonical.text(column, known)

    def _shown(self, key):
        """Returns the texts of a key's values in the source, and their canonical text."""
        shown = []
        for column, value in zip(self.key, key):
            is_text = isinstance(value, bytes) and not self.is_csv or column.kind == "utf8"
            shown.append(self._source_and_text(column, value.decode() if is_text else value))
        return [source for source, _ in shown], " ".join(text for _, text in shown)

    # The build.

    def names(self, columns):
        return ",".join(f"c{self.columns.index(column)}:{column.type}{'?' * column.is_nullable}" for column in columns)

    @property
    def source(self):
        """Rows as CSV or lines of JSON, in bytes."""
        names = [f"c{n}" for n in range(len(self.columns))]
        if not self.is_csv:
            heads = [f'"{name}": ' for name in names]
            lines = ("{" + ", ".join(map(str.__add__, heads, row)) + "}\n" for row in self._source)
            return "".join(lines).encode()
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([names, *self._source])
        return out.getvalue().encode(errors="surrogateescape")

    def builds(self, source, path, shard):
        """Returns the arguments of each build: from the source, or from it by another table. `shard` is (2, 3) or None."""
        columns = ["--columns", self.names(self.others)] if self.others else []
        named = ["--key", self.names(self.key), *columns]
        last = ["--sorted"] * self.is_sorted + (["--shard", "{}/{}".format(*shard)] if shard else [])
        # A budget of one byte puts rows into a file beside the table.
        last += ["--threads", str(1 + len(self.columns) % 3)] + (["--memory", "1"] if len(self.columns) % 2 else [])
        kept = ["--duplicates", self.duplicates] if self.duplicates else []
        first = ["build", source, *named, *kept, "-q", "-o"]
        if not self.is_built_twice:
            return [[*first, path, *last]]
        return [[*first, path + ".ytab"], ["build", path + ".ytab", *named, *kept, "-q", "-o", path, *last]]

    def shard_of(self, key, shards):
        """Returns the shard of a key, from 0: docs/formats/table-protocol.md."""
        data = b""
        for n, value in enumerate(key):
            if isinstance(value, bytes):
                data += (len(value).to_bytes(4, "little") if n + 1 < len(key) else b"") + value
            else:
                data += (int(value) & (1 << 64) - 1).to_bytes(8, "little")
        return key_hash(data) * shards >> 64

    # Queries.

    def lookups(self):
        """Yields queries for keys, with the lines of their answers."""
        rng = self._rng
        asked = rng.sample(self.keys, min(len(self.keys), 2000 if self.is_large else 500)) + self._absent
        rng.shuffle(asked)
        for key in asked:
            yield "get " + canonical.key(key), self.rows.get(key, ["none"])[:1]
        for key in rng.sample(asked, min(len(asked), 1000)):
            yield "all " + canonical.key(key), self._listed(self.rows.get(key, []))
        for word in self._beyond():
            yield "get " + word, ["none"]
            yield "batch " + word, ["none"]
        # A batch ends with the first query of another name.
        for key in rng.choices(asked, k=min(len(asked), 70)):
            yield "batch " + canonical.key(key), self.rows.get(key, ["none"])[:1]
        for n, key in enumerate(rng.sample(self.keys, len(self.keys)) + self._absent):
            if n % 10_000 == 0:
                yield "all " + canonical.key(key), self._listed(self.rows.get(key, []))
            yield "batch " + canonical.key(key), self.rows.get(key, ["none"])[:1]

    @staticmethod
    def _listed(rows):
        return [f"{len(rows)} rows", *rows]

    def _beyond(self):
        """Yields keys with integers that their columns cannot have, but that have 64 bits."""
        if any(column.kind not in WHOLE for column in self.key):
            return
        for base in [*self.keys[:3], *self._absent[:2]]:
            least, most = WHOLE["i64" if self.key[0].kind.startswith("i") else "u64"]
            own_least, own_most = WHOLE[self.key[0].kind]
            others = [own_least - 1, own_most + 1, base[0] + own_most - own_least + 1]
            yield from (canonical.key((other, *base[1:])) for other in others if least <= other <= most)

    def ranges(self, is_closed):
        """Yields queries for ranges and prefixes; `is_closed`: a range ends with its last key, not before it."""
        if not self.is_sorted:
            return
        rng = random.Random(len(self.keys))
        keys = sorted(self.keys)
        yield "range * *", self._listed([row for key in keys for row in self.rows[key]])
        for _ in range(40 if self.is_large else 12):
            count = rng.randint(1, len(self.key))
            begin, end = self._bounds(rng, keys, count)
            low = 0 if begin is None else self._place(bisect_left, keys, begin)
            high = len(keys) if end is None else self._place(bisect_right if is_closed else bisect_left, keys, end)
            words = ["*" if bound is None else canonical.key(bound) for bound in (begin, end)]
            yield f"range {' '.join(words)}", self._listed([row for key in keys[low:high] for row in self.rows[key]])
        for _ in range(10):
            yield from self._prefix(rng, keys)

    def _bounds(self, rng, keys, count):
        """Returns two bounds, near each other in a large table, sometimes in wrong order; None is an open end."""
        candidates = [*keys, *self._absent] or [None]
        if candidates == [None]:
            return None, None
        if self.is_large:
            at = rng.randrange(len(keys))
            bounds = [keys[at], keys[min(at + rng.randrange(300), len(keys) - 1)]]
        else:
            bounds = rng.choices(candidates, k=2)
            if rng.random() < 0.8:
                bounds.sort()
        bounds = [bound[:rng.choice([count, len(bound)])] for bound in bounds]
        return [None if rng.random() < 0.1 and not self.is_large else bound for bound in bounds]

    @staticmethod
    def _place(bisect, keys, bound):
        return bisect(keys, bound, key=lambda key: key[:len(bound)])

    def _prefix(self, rng, keys):
        texts = [n for n, column in enumerate(self.key) if column.kind in ("utf8", "bytes")]
        candidates = keys or self._absent
        if not texts or not candidates:
            return
        at = rng.choice(texts)
        bound = rng.choice(candidates)[:at + 1]
        bound = (*bound[:at], bound[at][:rng.randint(3 if self.is_large else 0, 14)])
        low = self._place(bisect_left, keys, bound)
        rows = []
        for key in keys[low:]:
            if key[:at] != bound[:at] or not key[at].startswith(bound[at]):
                break
            rows += self.rows[key]
        yield "prefix " + canonical.key(bound), self._listed(rows)
