"""Random expressions over the columns in scope, by kind of value.

An expression is text for PostgreSQL-like dialects. `Maker.sqlite` turns False when the text has what SQLite lacks or
means otherwise. Nothing here overflows, divides by zero, or depends on the order of rows.
"""

KINDS = ("int", "float", "dec", "str", "bool", "date", "time")
# Kinds whose literals and functions SQLite spells otherwise.
FOREIGN = ("dec", "bool", "date", "time")
COMPARED = ("=", "<>", "<", "<=", ">", ">=")
PATTERNS = ["a%", "%b", "%a%", "_", "a_b", "%", "", "x%y", "%é%", "a b", "%1%", "__"]


class Maker:
    """`scope`: pairs of (text, kind). `random` decides everything."""

    def __init__(self, random, scope):
        self.random, self.scope = random, scope
        self.sqlite = True
        self.subquery = None  # makes the text of a condition with a subquery, where allowed

    def columns(self, kind):
        return [text for text, of in self.scope if of == kind]

    def column(self, kind):
        """Returns a column of the kind, or a literal if there is none."""
        found = self.columns(kind)
        if kind in FOREIGN and found:
            self.sqlite = False
        return self.random.choice(found) if found else self.literal(kind)

    def literal(self, kind):
        pick = self.random
        if kind in FOREIGN:
            self.sqlite = False
        if kind in ("int", "big"):
            number = pick.choice([0, 1, 2, -1, 3, 7, 10, 50, 100, pick.randint(-100, 100)])
            return str(number) if number >= 0 else f"({number})"
        if kind == "float":
            self.sqlite = False  # no type `double` of its own
            return f"cast({pick.randint(-400, 400) / 4} as double)"
        if kind == "dec":
            return f"cast({pick.randint(-9999, 9999) / 100:.2f} as decimal(10, 2))"
        if kind == "str":
            text = pick.choice(["a", "b", "ab", "", "B", "zz", "a b", "é", "1", "abc", "a''b"])
            return f"'{text}'"
        if kind == "bool":
            return pick.choice(["true", "false"])
        if kind == "date":
            return f"date '{pick.randint(1970, 2020)}-{pick.randint(1, 12):02}-{pick.randint(1, 28):02}'"
        return f"timestamp '{pick.randint(1999, 2000)}-{pick.randint(1, 12):02}-{pick.randint(1, 28):02} 01:02:03'"

    def value(self, kind, depth):
        """Returns an expression of a kind."""
        if depth <= 0 or self.random.random() < 0.25:
            return self.column(kind) if self.random.random() < 0.8 else self.literal(kind)
        if self.random.random() < 0.2:
            return self.any_kind(kind, depth - 1)
        return getattr(self, kind)(depth - 1)

    def any_kind(self, kind, depth):
        pick = self.random.randint(0, 2)
        if pick == 0:
            return f"coalesce({self.value(kind, depth)}, {self.value(kind, depth)})"
        if pick == 1 and kind != "dec":
            return f"nullif({self.value(kind, depth)}, {self.value(kind, depth)})"
        more = "".join(f" when {self.condition(depth)} then {self.value(kind, depth)}"
                       for _ in range(self.random.randint(1, 3)))
        return f"case{more}{self.random.choice(['', ' else ' + self.value(kind, depth)])} end"

    def int(self, depth):
        pick = self.random.randint(0, 7)
        if pick <= 2:
            a, b = (f"cast({self.value('int', depth)} as bigint)" for _ in range(2))
            return f"({a} {'+-*'[pick]} {b})"
        if pick == 3:
            return f"(cast({self.value('int', depth)} as bigint) % {self.random.choice([2, 3, 7, 10])})"
        if pick == 4:
            return f"abs(cast({self.column('int')} as bigint))"
        if pick == 5:
            return f"length({self.value('str', depth)})"
        if pick == 6:
            self.sqlite = False
            part = self.random.choice(["year", "month", "day"])
            return f"cast(extract({part} from {self.value('date', depth)}) as bigint)"
        return f"(case when {self.condition(depth)} then 1 else 0 end)"

    def float(self, depth):
        pick = self.random.randint(0, 4)
        if pick <= 2:
            a, b = (f"cast({self.column('float')} as double)" for _ in range(2))
            self.sqlite = False
            return f"({a} {'+-*'[pick]} {b})"
        if pick == 3:
            self.sqlite = False
            return f"cast({self.value('int', depth)} as double)"
        return f"abs({self.value('float', depth)})"

    def dec(self, depth):
        pick = self.random.randint(0, 3)
        self.sqlite = False
        if pick <= 1:
            a, b = (self.small() for _ in range(2))
            return f"({a} {'+-'[pick]} {b})"
        if pick == 2:
            return f"({self.small()} * {self.random.choice([2, 3, self.literal('dec')])})"
        return f"abs({self.small()})"

    def small(self):
        """Returns a decimal of few digits: a sum of wide ones would pass 38."""
        return f"cast({self.column('dec')} as decimal(12, 2))" if self.random.random() < 0.7 else self.literal("dec")

    def str(self, depth):
        pick = self.random.randint(0, 6)
        if pick == 0:
            return f"({self.value('str', depth)} || {self.value('str', depth)})"
        if pick in (1, 2):
            self.sqlite = False  # ASCII alone
            return f"{('upper', 'lower')[pick - 1]}({self.value('str', depth)})"
        if pick == 3:
            return f"substr({self.value('str', depth)}, {self.random.randint(1, 4)}, {self.random.randint(0, 4)})"
        if pick == 4:
            return f"trim({self.value('str', depth)})"
        if pick == 5:
            return f"replace({self.value('str', depth)}, 'a', {self.random.choice(['', 'zz'])!r})"
        self.sqlite = False
        return f"cast({self.value('int', depth)} as varchar)"

    def bool(self, depth):
        self.sqlite = False
        return f"({self.condition(depth)})"

    def date(self, depth):
        self.sqlite = False
        if self.random.random() < 0.5:
            amount = f"interval '{self.random.randint(0, 40)}' {self.random.choice(['day', 'month', 'year'])}"
            return f"cast({self.column('date')} {self.random.choice('+-')} {amount} as date)"
        return f"cast({self.column('time')} as date)"

    def time(self, depth):
        self.sqlite = False
        unit = self.random.choice(["year", "month", "day", "hour", "minute"])
        return f"date_trunc('{unit}', {self.column('time')})"

    # ---- conditions ----

    def condition(self, depth):
        pick = self.random.randint(0, 11)
        if depth > 0 and pick <= 3:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return (f"({a} and {b})", f"({a} or {b})", f"not ({a})", f"({a} or not ({b}))")[pick]
        if self.subquery and depth > 0 and pick == 4:
            return self.subquery(self)
        kind = self.kind(depth)
        if pick == 5:
            return f"{self.value(kind, depth)} is {self.random.choice(['', 'not '])}null"
        if pick == 6:
            members = ", ".join(self.literal(kind) for _ in range(self.random.choice([1, 2, 5, 20])))
            members += self.random.choice(["", "", ", null"])
            return f"{self.value(kind, depth)} {self.random.choice(['', 'not '])}in ({members})"
        if pick == 7:
            low, high = self.literal(kind), self.value(kind, depth - 1)
            return f"{self.value(kind, depth)} {self.random.choice(['', 'not '])}between {low} and {high}"
        if pick == 8 and self.columns("str"):
            self.sqlite = False  # ignores case
            return f"{self.value('str', 1)} {self.random.choice(['', 'not '])}like '{self.random.choice(PATTERNS)}'"
        if pick == 9 and self.columns("bool"):
            return self.column("bool")
        if pick == 10:
            self.sqlite = False
            # In brackets: some parsers take an `and` after it for a part of its right side.
            word = self.random.choice(["", "not "])
            return f"({self.value(kind, depth)} is {word}distinct from ({self.value(kind, depth)}))"
        return f"{self.value(kind, depth)} {self.random.choice(COMPARED)} {self.value(kind, depth)}"

    def kind(self, depth):
        """Returns a kind that the scope has columns of; `big` is compared with columns and literals alone."""
        found = [kind for _, kind in self.scope if kind != "big"] or ["int"]
        return self.random.choice(found)
