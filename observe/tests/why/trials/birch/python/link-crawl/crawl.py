"""Collects the links of web pages (from an archive) that a search engine has not seen lately."""
import collections
import html.parser
import sys
import threading
import time

RECENT = 12000
done = 0


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.extend(v for k, v in attrs if k == "href")


class Recent:
    """The links seen lately, oldest first."""

    def __init__(self, kind):
        self.order = collections.deque()
        self.seen = set() if kind == "set" else self.order

    def new(self, link):
        if link in self.seen:
            return False
        self.order.append(link)
        if self.seen is not self.order:
            self.seen.add(link)
        if len(self.order) > RECENT:
            old = self.order.popleft()
            if self.seen is not self.order:
                self.seen.discard(old)
        return True


def page(n):
    links = "".join(f'<a href="https://site{(n + i) % 50}.example/p/{(n * 37 + i * 7919) % 200000}">x</a>'
                    for i in range(20))
    return f"<html><body><h1>Page {n}</h1><p>{links}</p></body></html>"


def report():
    while True:
        time.sleep(0.5)
        print("done", done)


def main():
    global done
    recent = Recent(sys.argv[1])
    for i in range(RECENT):
        (recent.new(f"https://old.example/{i}") if recent.seen is not recent.order
         else recent.order.append(f"https://old.example/{i}"))
    threading.Thread(target=report, daemon=True).start()
    fresh, n = 0, 0
    while True:
        parser = Links()
        parser.feed(page(n))
        fresh += sum(recent.new(link) for link in parser.found)
        n += 1
        done = n


main()
