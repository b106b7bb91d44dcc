"""Random queries over random tables: joins, groups, subqueries, set operations, windows, order and limit.

A query is text with what is known of it: the order of its rows, whether SQLite can check it, and the parts that
ternary logic takes apart.
"""

from dataclasses import dataclass, field

from generated.expressions import Maker

JOINS = ["join", "join", "left join", "left join", "right join", "full join", "cross join"]
TRIES = 30
PRODUCT_MAX = 100_000  # rows of a join by keys that may all be equal


@dataclass
class Query:
    text: str
    ordered: bool = False  # by all its columns
    sqlite: bool = True
    shape: str = ""
    parts: list = field(default_factory=list)  # queries whose rows together are the rows of this one


class Writer:
    def __init__(self, random, tables, lite=False):
        self.random, self.tables, self.lite, self.named = random, tables, lite, 0
        self.sqlite = True

    def chance(self, share):
        return self.random.random() < share

    def maker(self, scope, subqueries=True):
        maker = Maker(self.random, scope)
        if subqueries:
            maker.subquery = self.subquery
        return maker

    def merge(self, *makers):
        self.sqlite = self.sqlite and all(maker.sqlite for maker in makers)

    def alias(self):
        self.named += 1
        return f"x{self.named}"

    # ---- sources ----

    def source(self, depth=1):
        """Returns the text of one source, its scope, and its rows at most."""
        table, alias = self.random.choice(self.tables), self.alias()
        scope = [(f"{alias}.{column.name}", column.kind) for column in table.columns]
        if depth > 0 and self.chance(0.12):
            inner, columns = self.derived(depth - 1)
            return f"({inner}) as {alias}", [(f"{alias}.{name}", kind) for name, kind in columns], self.largest()
        return f"{table.name} as {alias}", scope, table.rows

    def derived(self, depth):
        """Returns the text of a subquery and its columns, with names of their own."""
        text, scope, _ = self.source(depth)
        maker = self.maker(scope, False)
        if self.chance(0.5):
            keys = self.random.sample(scope, min(len(scope), self.random.randint(1, 2)))
            columns = [(f"k{n}", kind) for n, (_, kind) in enumerate(keys)] + [("n", "int")]
            names = ", ".join(f"{column} as k{n}" for n, (column, _) in enumerate(keys))
            text = f"select {names}, count(*) as n from {text} group by {', '.join(column for column, _ in keys)}"
        else:
            kinds = [
                self.random.choice([kind for _, kind in scope if kind != "big"])
                for _ in range(self.random.randint(1, 4))
            ]
            columns = [(f"v{n}", kind) for n, kind in enumerate(kinds)]
            names = ", ".join(f"{maker.value(kind, 1)} as v{n}" for n, kind in enumerate(kinds))
            distinct = self.random.choice(["", "", "distinct "])
            text = f"select {distinct}{names} from {text} where {maker.condition(1)}"
        if any(kind in ("dec", "bool", "date", "time") for _, kind in columns):
            self.sqlite = False
        self.merge(maker)
        return text, columns

    def sources(self, most=3):
        """Returns the text after FROM, and the scope."""
        text, scope, rows = self.source()
        for _ in range(self.random.choice([0, 0, 1, 1, 1, 2, most])):
            more, columns, count = self.source()
            wide = rows * count > PRODUCT_MAX
            join = self.random.choice(JOINS)
            if join == "cross join" and not wide:
                text += f" cross join {more}"
            else:
                join = "join" if join == "cross join" else join
                text += f" {join} {more} on {self.join_condition(scope, columns, wide)}"
            rows = rows + count if wide else rows * count
            scope = scope + columns
        return text, scope

    def largest(self):
        return max(table.rows for table in self.tables)

    def join_condition(self, left, right, wide):
        """Returns equal keys, and any condition where the product is small. A wide join has the number of a row."""
        pairs = [(a, b) for a, kind in left for b, other in right if kind == other]
        maker, kinds = self.maker(left + right, False), dict(left + right)
        unique = [pair for pair in pairs if pair[1].endswith(".id")]
        if wide:
            # A subquery has no number of its rows: its keys may all be equal, but then they are groups or few.
            pairs = unique or [(a, b) for a, b in pairs if kinds[a] == "int"][:1] or pairs[:1]
        if not pairs or not wide and self.chance(0.1):
            text = maker.condition(1) if not wide else f"{left[0][0]} is null and {right[0][0]} is null"
        else:
            chosen = self.random.sample(pairs, min(len(pairs), self.random.choice([1, 1, 1, 2])))
            if any(kinds[a] in ("dec", "bool", "date", "time") for a, _ in chosen):
                self.sqlite = False
            text = " and ".join(f"{a} = {b}" for a, b in chosen)
            if self.chance(0.25):
                text += f" and {maker.condition(1)}"
        self.merge(maker)
        return text

    def subquery(self, outer):
        """Returns a condition with a subquery, correlated or not."""
        table, alias = self.random.choice(self.tables), self.alias()
        scope = [(f"{alias}.{column.name}", column.kind) for column in table.columns]
        inner = Maker(self.random, scope)
        where = [inner.condition(1)] if self.chance(0.6) else []
        kinds = dict(outer.scope)
        pairs = [(a, b) for a, kind in outer.scope for b, other in scope if kind == other and kind != "big"]
        if pairs and self.chance(0.6):
            a, b = self.random.choice(pairs)
            where.append(f"{a} = {b}")
            outer.sqlite = outer.sqlite and kinds[a] in ("int", "float", "str")
        where = f" where {' and '.join(where)}" if where else ""
        outer.sqlite = outer.sqlite and inner.sqlite
        pick, no = self.random.randint(0, 3), self.random.choice(["", "not "])
        if pick == 0:
            return f"{no}exists (select 1 from {table.name} as {alias}{where})"
        if pick == 1:
            kind = self.random.choice([kind for _, kind in scope if kind in ("int", "str")])
            column = self.random.choice([text for text, of in scope if of == kind])
            return f"{outer.column(kind)} {no}in (select {column} from {table.name} as {alias}{where})"
        call = self.random.choice(
            ["count(*)", f"max({inner.column('int')})", f"min({inner.column('int')})", "count(*)"])
        return f"{outer.column('int')} {self.random.choice(['<', '>', '=', '<='])} " \
               f"(select {call} from {table.name} as {alias}{where})"

    # ---- whole queries ----

    def query(self):
        """Returns a query. In lite mode, one that SQLite can check, if one comes up soon."""
        for _ in range(TRIES if self.lite else 1):
            made = self.any_query()
            if made.sqlite:
                break
        return made

    def any_query(self):
        self.sqlite = True
        shape = self.random.choice(
            ["rows", "rows", "groups", "groups", "groups", "windows", "sets", "distinct", "with"])
        made = getattr(self, shape)()
        made.shape, made.sqlite = shape, self.sqlite and made.sqlite
        return made

    def finish(self, text, count):
        """Adds an order by all columns, and a limit, to some queries."""
        if self.chance(0.5):
            return Query(text)
        keys = self.random.sample(range(1, count + 1), count)
        order = ", ".join(
            f"{n} {self.random.choice(['asc', 'desc'])} nulls {self.random.choice(['first', 'last'])}" for n in keys)
        text += f" order by {order}"
        if self.chance(0.6):
            text += f" limit {self.random.choice([0, 1, 3, 10, 100])}"
            if self.chance(0.3):
                text += f" offset {self.random.choice([0, 1, 5, 50])}"
        return Query(text, ordered=True)

    def outputs(self, maker, depth=2):
        """Returns the items of a select list."""
        kinds = [
            self.random.choice([kind for _, kind in maker.scope if kind != "big"])
            for _ in range(self.random.randint(1, 5))
        ]
        items = [maker.value(kind, depth) for kind in kinds]
        bigs = maker.columns("big")
        if bigs and self.chance(0.3):
            items.append(self.random.choice(bigs))
        return items

    def rows(self):
        source, scope = self.sources()
        maker = self.maker(scope)
        items = self.outputs(maker)
        selected = f"select {', '.join(f'{item} as r{n}' for n, item in enumerate(items))} from {source}"
        condition = maker.condition(3) if self.chance(0.8) else None
        self.merge(maker)
        if condition is None:
            again = self.maker(scope, False)
            p = again.condition(2)
            made = Query(selected)
            made.parts = [f"{selected} where {p}", f"{selected} where not ({p})", f"{selected} where ({p}) is null"]
            return made
        return self.finish(f"{selected} where {condition}", len(items))

    def distinct(self):
        source, scope = self.sources(2)
        maker = self.maker(scope)
        items = self.outputs(maker, 1)
        text = f"select distinct {', '.join(f'{item} as r{n}' for n, item in enumerate(items))} from {source}"
        text += f" where {maker.condition(2)}" if self.chance(0.5) else ""
        self.merge(maker)
        return self.finish(text, len(items))

    def aggregate(self, maker):
        """Returns a call of an aggregate. None depends on the order of rows."""
        pick, kinds = self.random.randint(0, 9), [kind for _, kind in maker.scope if kind != "big"]
        numbers = [kind for kind in kinds if kind in ("int", "float", "dec")] or ["int"]
        if pick == 0:
            call = "count(*)"
        elif pick == 1:
            call = f"count({maker.value(self.random.choice(kinds), 1)})"
        elif pick == 2:
            call = f"count(distinct {maker.value(self.random.choice(kinds), 1)})"
        elif pick in (3, 4):
            call = f"sum({maker.value(self.random.choice(numbers), 1)})"
        elif pick == 5:
            call = f"avg({maker.value(self.random.choice(numbers), 1)})"
        elif pick == 6 and maker.columns("bool"):
            call = f"{self.random.choice(['bool_and', 'bool_or'])}({maker.column('bool')})"
        elif pick == 7 and maker.columns("big"):
            call = f"{self.random.choice(['min', 'max', 'count'])}({self.random.choice(maker.columns('big'))})"
        else:
            kind = self.random.choice([kind for kind in kinds if kind != "bool"] or ["int"])
            call = f"{self.random.choice(['min', 'max'])}({maker.value(kind, 1)})"
        if self.chance(0.15):
            call += f" filter (where {maker.condition(1)})"
        return call

    def groups(self):
        source, scope = self.sources()
        maker = self.maker(scope, False)
        count = self.random.choice([0, 1, 1, 1, 2, 3])
        keys = []
        for _ in range(count):
            kind = self.random.choice([kind for _, kind in scope])
            plain = kind == "big" or self.chance(0.7)
            # A key that is a bare literal would be the number of a column.
            key = maker.column(kind) if plain or not maker.columns(kind) else maker.value(kind, 1)
            keys.append(key if any(text in key for text, _ in scope) else maker.column("int"))
        calls = [self.aggregate(maker) for _ in range(self.random.randint(1, 4))]
        items = [*keys, *calls]
        text = f"select {', '.join(f'{item} as r{n}' for n, item in enumerate(items))} from {source}"
        where = self.maker(scope)
        text += f" where {where.condition(2)}" if self.chance(0.5) else ""
        if keys:
            form = self.random.choice(["", "", "", "", "numbers", "rollup", "cube", "sets"])
            names = ", ".join(keys)
            if form == "numbers":
                names = ", ".join(str(n + 1) for n in range(len(keys)))
            elif form and len(set(keys)) == len(keys):
                self.sqlite = False
                names = f"grouping sets (({names}), ({keys[0]}), ())" if form == "sets" else f"{form} ({names})"
            text += f" group by {names}"
        if self.chance(0.3):
            kept = ["count(*) > 1", "count(*) = 1", f"{calls[0]} is not null", "count(*) < 5"]
            text += f" having {self.random.choice(kept)}"
        self.merge(maker, where)
        return self.finish(text, len(items))

    def windows(self):
        source, scope, _ = self.source()
        maker = self.maker(scope, False)
        ids = [text for text, _ in scope if text.endswith(".id")]
        columns = [text for text, kind in scope]
        items = [self.random.choice(columns) for _ in range(2)]
        self.sqlite = False
        for _ in range(self.random.randint(1, 3)):
            partition = f"partition by {self.random.choice(columns)} " if self.chance(0.7) else ""
            key = self.random.choice(columns)
            down = f"{self.random.choice(['asc', 'desc'])} nulls {self.random.choice(['first', 'last'])}"
            # All columns decide where there is no id: rows that are equal in all of them are the same row.
            total = f"order by {', '.join([f'{key} {down}', *(f'{text} nulls last' for text in (ids or columns))])}"
            pick = self.random.randint(0, 11)
            if pick == 0:
                items.append(f"row_number() over ({partition}{total})")
            elif pick == 1:
                items.append(f"{self.random.choice(['rank', 'dense_rank'])}() over ({partition}order by {key} {down})")
            elif pick == 2:
                call = self.random.choice(["lag", "lead"])
                items.append(
                    f"{call}({self.random.choice(columns)}, {self.random.randint(1, 3)}) over ({partition}{total})")
            elif pick == 3:
                call = self.random.choice(["first_value", "last_value"])
                items.append(f"{call}({self.random.choice(columns)}) over ({partition}{total})")
            elif pick == 4:
                low = self.random.choice(["unbounded preceding", "2 preceding", "current row"])
                high = self.random.choice(["current row", "1 following", "unbounded following"])
                items.append(f"{self.frame_call(maker)} over ({partition}{total} rows between {low} and {high})")
            elif pick == 5:
                items.append(f"{self.frame_call(maker)} over ({partition}order by {key} {down})")
            elif pick == 6:
                low, high = sorted(self.random.randint(-3, 3) for _ in range(2))
                unit, order = self.random.choice([("rows", total), ("groups", f"order by {key} {down}")])
                frame = f"{unit} between {self.offset(low)} and {self.offset(high)}"
                items.append(f"{self.frame_call(maker)} over ({partition}{order} {frame})")
            elif pick == 7:
                items.append(f"{self.frame_call(maker)} over ({partition}{self.ranges(scope, down)})")
            elif pick == 8:
                call = self.random.choice(["percent_rank", "cume_dist"])
                items.append(f"{call}() over ({partition}order by {key} {down})")
            elif pick == 9:
                items.append(f"ntile({self.random.choice([1, 2, 5, 100])}) over ({partition}{total})")
            elif pick == 10:
                frame = self.random.choice(["", " rows between 1 preceding and 2 following"])
                call = f"nth_value({self.random.choice(columns)}, {self.random.randint(1, 3)})"
                items.append(f"{call} over ({partition}{total}{frame})")
            else:
                items.append(f"{self.frame_call(maker)} over ({partition.strip()})")
        text = f"select {', '.join(f'{item} as r{n}' for n, item in enumerate(items))} from {source}"
        text += f" where {maker.condition(1)}" if self.chance(0.4) else ""
        return self.finish(text, len(items))

    def frame_call(self, maker):
        call = self.random.choice(["sum", "count", "min", "max", "avg", "stddev_pop"])
        kinds = ["int", "float", "dec"] + (["str", "date"] if call in ("count", "min", "max") else [])
        kind = self.random.choice([kind for kind in kinds if maker.columns(kind)] or ["int"])
        text = f"{call}({maker.column(kind)})"
        return text + (f" filter (where {maker.condition(1)})" if self.chance(0.15) else "")

    def offset(self, steps):
        """Returns an end of a frame."""
        if steps == 0:
            return "current row"
        return f"{steps} following" if steps > 0 else f"{-steps} preceding"

    def ranges(self, scope, down):
        """Returns an order by one key, and a frame by its values."""
        keys = [(text, kind) for text, kind in scope if kind in ("int", "float", "dec", "date", "time")]
        if not keys:
            return f"order by {scope[0][0]} {down}"
        text, kind = self.random.choice(keys)
        if kind in ("date", "time"):
            offsets = ["interval '40 days'", "interval '1 month'", "interval '13 months'", "interval '0 days'"]
        else:
            # A type in which no sum overflows.
            text = f"cast({text} as {'bigint' if kind == 'int' else 'double'})"
            offsets = ["0", "1", "3", "20"] if kind == "int" else ["0.0", "0.75", "2.5", "30.0"]
        ends = [f"{offset} preceding" for offset in offsets] + ["current row"]
        low = self.random.choice(["unbounded preceding", *ends])
        high = self.random.choice(["unbounded following", "current row", *(f"{offset} following" for offset in offsets)])
        return f"order by {text} {down} range between {low} and {high}"

    def sets(self):
        """Two or three selects of the same kinds, joined by set operations."""
        kinds = [
            self.random.choice(["int", "int", "str", "float", "date", "dec"]) for _ in range(self.random.randint(1, 3))
        ]
        texts = []
        for _ in range(self.random.choice([2, 2, 3])):
            source, scope, _ = self.source()
            maker = self.maker(scope, False)
            items = [f"cast({maker.column(kind)} as {CASTS[kind]})" for kind in kinds]
            text = f"select {', '.join(f'{item} as r{n}' for n, item in enumerate(items))} from {source}"
            texts.append(text + (f" where {maker.condition(1)}" if self.chance(0.5) else ""))
            self.merge(maker)
        # Decimals, doubles and dates have types of their own; SQLite has no `intersect all` and reads from the left.
        self.sqlite = False
        words = ["union", "union all", "intersect", "except", "intersect all", "except all"]
        text = texts[0]
        for more in texts[1:]:
            text = f"({text}) {self.random.choice(words)} ({more})"
        return self.finish(f"select * from ({text}) as s", len(kinds))

    def with_(self):
        text, columns = self.derived(1)
        name, other = self.alias(), self.alias()
        key = self.random.choice(columns)[0]
        join = self.random.choice(["join", "left join", "full join"])
        made = f"with c as ({text}) select {name}.{key} as r0, count(*) as r1 from c as {name} {join} c as {other} " \
               f"on {name}.{key} = {other}.{key} group by {name}.{key}"
        return self.finish(made, 2)


setattr(Writer, "with", Writer.with_)
CASTS = {"int": "bigint", "str": "varchar", "float": "double", "date": "date", "dec": "decimal(20, 4)"}
