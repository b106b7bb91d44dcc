"""Reads the text of till receipts and books each item to the account of its article."""
import gc
import re
import sys
import threading
import time

TIDY = sys.argv[1] == "tidy"
LINE = re.compile(r"(\d+) x (\w+)\s+(\d+)\.(\d\d)")
done = 0


class Article:
    def __init__(self, name):
        self.name = name
        self.sold = [0] * 4
        self.suppliers = {"main": name + "-gmbh", "second": None}


class Item:
    def __init__(self, receipt, article, count, cents):
        self.receipt, self.article, self.count, self.cents = receipt, article, count, cents


class Receipt:
    def __init__(self, text):
        self.items = [Item(self, m[2], int(m[1]), int(m[3]) * 100 + int(m[4])) for m in LINE.finditer(text)]


def report():
    while True:
        time.sleep(0.5)
        print("done", done)


def main():
    global done
    articles = {f"art{i}": Article(f"art{i}") for i in range(120000)}
    threading.Thread(target=report, daemon=True).start()
    n = 0
    while True:
        text = "\n".join(f"{k % 4 + 1} x art{(n * 13 + k) % 120000}   {k}.{n % 90 + 10}" for k in range(60))
        receipt = Receipt(text)
        for item in receipt.items:
            articles[item.article].sold[item.count - 1] += item.cents
        del receipt, item
        n += 1
        if TIDY and n % 20 == 0:
            gc.collect()       # the receipts refer to their items and back
        done = n


main()
