"""Road graph service: loads the graph, then answers batches of route questions."""
import gc
import heapq
import random
import sys
import time


class Edge:
    __slots__ = ('to', 'cost', 'tags')

    def __init__(self, to, cost):
        self.to, self.cost, self.tags = to, cost, {'kind': cost % 5}


class Graph:
    def __init__(self, n):
        rnd = random.Random(7)
        self.out = [[Edge(rnd.randrange(max(0, i - 40), min(n, i + 40)), rnd.randrange(1, 9))
                     for _ in range(3)] for i in range(n)]

    def cheapest(self, a, limit):
        dist, todo, seen = {a: 0}, [(0, a)], 0
        while todo and seen < limit:
            d, x = heapq.heappop(todo)
            if d > dist[x]:
                continue
            seen += 1
            for e in self.out[x]:
                nd = d + e.cost
                if nd < dist.get(e.to, 1 << 30):
                    dist[e.to] = nd
                    heapq.heappush(todo, (nd, e.to))
        return dist


def answer(graph, batch, tidy):
    out = []
    for a in batch:
        d = graph.cheapest(a, 60)
        out.append((a, max(d, key=d.get)))
    if tidy:
        gc.collect()
    return out


def main():
    graph = Graph(60000)
    tidy = sys.argv[1] == 'tidy'
    rnd, done, last = random.Random(1), 0, 0
    while True:
        done += len(answer(graph, [rnd.randrange(60000) for _ in range(40)], tidy))
        if time.time() - last > 1:
            last = time.time()
            print('done', done, flush=True)


main()
