"""A table `hits` as ClickBench has it: the same 105 columns, the skew of a counter of visits, from a seed.

Names and types of the columns, and the 43 queries, come from the package benchbox (MIT), which is read and not run.
"""

import ast
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from data import tables, wheels

PACKAGE = "benchbox==0.4.2"
PARTS = "benchbox/core/clickbench/"
TYPES = {"BIGINT": pa.int64(), "INTEGER": pa.int32(), "SMALLINT": pa.int16(), "DATE": pa.date32(),
         "TIMESTAMP": pa.timestamp("us")}
GROUP_ROWS = 20_000
# Values that the queries name.
USER, URL_HASH, REFERER_HASH, COUNTER = 435090932899640449, 2868770270353813622, 3594120000172545465, 62
JULY = np.datetime64("2013-07-01", "s")
DAYS = 31
DOMAINS = [
    "www.google.com",
    "google.ru",
    "yandex.ru",
    "www.example.com",
    "mail.example.org",
    "shop.example.net",
    "kinopoisk.ru",
    "auto.ru",
    "xn--80ak6aa92e.com",
    "www.avito.ru",
    "m.google.co.uk",
]
WORDS = [
    "google",
    "Google",
    "купить",
    "авто",
    "смотреть онлайн",
    "погода",
    "news",
    "Москва",
    "cheap flights",
    "карта",
    "фото",
    "how to",
    "日本",
    "рецепты",
    "download",
]


def columns():
    """Returns (name, type) of each column."""
    specification = wheels.text(PACKAGE, PARTS + "schema_specs.yaml")
    found = re.findall(r"- name: (\w+)\n\s+type: (\w+)", specification)
    return [(name, TYPES.get(kind, pa.string())) for name, kind in found]


def queries():
    """Returns the texts of the 43 queries, with columns in quotes, for they have capitals."""
    tree = ast.parse(wheels.text(PACKAGE, PARTS + "queries.py"))
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.Dict) and len(node.keys) == 43)
    texts = [ast.literal_eval(value).rstrip(";") for value in found.values]
    # Escaped once too often for a text of SQL.
    texts = [text.replace("\\\\1", "\\1") for text in texts]
    quoted = re.compile(r"\b(" + "|".join(name for name, _ in columns()) + r")\b(?![^']*'(?:[^']*'[^']*')*[^']*$)")
    return [quoted.sub(r'"\1"', text) for text in texts]


def scaled(sql, rows):
    """Returns a query whose thresholds fit a table of fewer rows than the hundred million of the original."""
    if rows >= 10_000_000:
        return sql
    sql = re.sub(r"> 100000\b", f"> {max(1, rows // 1000)}", sql)
    return re.sub(r"OFFSET (\d+)", lambda found: f"OFFSET {int(found[1]) // 100}", sql)


def skewed(random, count, values, power=1.2):
    """Returns numbers below `values`, the small ones often."""
    return np.minimum((random.pareto(power, count) * max(1, values / 50)).astype(np.int64), values - 1)


def table(rows, seed):
    random = np.random.default_rng(seed)
    seconds = np.sort(random.choice(DAYS * 86_400, rows, replace=rows > DAYS * 86_400))
    time = JULY + seconds.astype("timedelta64[s]")
    users = random.integers(1, 2**62, max(1, rows // 6))
    users[0] = USER
    sites = [f"http://{DOMAINS[n % len(DOMAINS)]}/{'' if n % 7 == 0 else f'path{n % 97}/item?id={n}'}"
             for n in range(max(1, rows // 8))]
    site, referer = skewed(random, rows, len(sites), 0.9), skewed(random, rows, len(sites), 0.9)
    hashes, referers = random.integers(-2**62, 2**62, len(sites)), random.integers(-2**62, 2**62, len(sites))
    hashes[0], referers[0] = URL_HASH, REFERER_HASH
    phrases = [""] + [" ".join(WORDS[(n * k) % len(WORDS)] for k in (1, 3, 7)[:1 + n % 3]) + (f" {n}" if n % 4 else "")
                      for n in range(1, max(2, rows // 10))]
    phrase = np.where(random.random(rows) < 0.8, 0, skewed(random, rows, len(phrases)))
    models = ["", "iPad", "iPhone 4", "Galaxy S", "Lumia", "N900"]
    phone = np.where(random.random(rows) < 0.9, 0, skewed(random, rows, len(models)))
    known = {
        "WatchID": random.permutation(rows).astype(np.int64) * 92_233_720_368 + 4_611_686_018_427_387,
        "EventTime": time.astype("datetime64[us]"),
        "EventDate": time.astype("datetime64[D]"),
        "ClientEventTime": (time + random.integers(-90, 90, rows)).astype("datetime64[us]"),
        "LocalEventTime": (time + 14_400).astype("datetime64[us]"),
        "UserID": users[skewed(random, rows, len(users))],
        "CounterID": np.where(random.random(rows) < 0.2, COUNTER, skewed(random, rows, 5000)),
        "ClientIP": random.integers(-2**31, 2**31, max(1, rows // 5))[skewed(random, rows, max(1, rows // 5))],
        "RegionID": skewed(random, rows, 5000),
        "URL": np.array(sites)[site],
        "URLHash": hashes[site],
        "Referer": np.where(random.random(rows) < 0.3, "",
                            np.array(sites)[referer]),
        "RefererHash": referers[referer],
        "Title": np.array([f"{WORDS[n % len(WORDS)]} - {n % 1000}" if n % 9 else "" for n in range(len(sites))])[site],
        "SearchPhrase": np.array(phrases)[phrase],
        "SearchEngineID": np.where(phrase > 0,
                                   skewed(random, rows, 60) + 1, 0),
        "AdvEngineID": np.where(random.random(rows) < 0.97, 0,
                                skewed(random, rows, 50) + 1),
        "MobilePhoneModel": np.array(models)[phone],
        "MobilePhone": phone * 7 % 100,
        "ResolutionWidth": np.array([0, 1024, 1280, 1366, 1440, 1638, 1920])[skewed(random, rows, 7)],
        "WindowClientWidth": random.integers(0, 40, rows) * 50,
        "WindowClientHeight": random.integers(0, 20, rows) * 50,
        "TraficSourceID": random.choice([-1, 0, 1, 2, 3, 6], rows),
        "IsRefresh": random.random(rows) < 0.15,
        "IsLink": random.random(rows) < 0.2,
        "IsDownload": random.random(rows) < 0.02,
        "DontCountHits": random.random(rows) < 0.1,
    }
    arrays = []
    for name, kind in columns():
        if name in known:
            values = known[name]
        elif pa.types.is_timestamp(kind):
            values = time.astype("datetime64[us]")
        elif pa.types.is_integer(kind):
            values = skewed(random, rows, int(random.choice([1, 2, 5, 100, 3000])))
        else:
            texts = np.array(["", *(f"{name[:3].lower()}{n}" for n in range(int(random.choice([1, 3, 40]))))])
            values = texts[skewed(random, rows, len(texts))]
        values = values.astype(np.int64) if values.dtype == bool else values
        arrays.append(pa.array(values).cast(kind))
    return pa.table(arrays, names=[name for name, _ in columns()])


def path(rows, seed=1):
    """Returns the path of the table, made once."""
    def make(folder):
        pq.write_table(table(rows, seed), os.path.join(folder, "hits.parquet"), row_group_size=GROUP_ROWS)

    return os.path.join(tables.made(f"hits-{rows}-{seed}", make), "hits.parquet")
