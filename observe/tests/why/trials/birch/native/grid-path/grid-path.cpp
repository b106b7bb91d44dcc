// grid-path: finds ways for the carts of a warehouse on its grid of aisles.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <random>
#include <unordered_map>

struct Cell {
    int x, y;
    bool operator==(const Cell &o) const { return x == o.x && y == o.y; }
};

static bool mixed;

struct CellHash {
    size_t operator()(const Cell &c) const {
        if (mixed)
            return (uint64_t(uint32_t(c.x)) * 0x9E3779B97F4A7C15ull) ^
                   (uint64_t(uint32_t(c.y)) * 0xC2B2AE3D27D4EB4Full >> 7);
        return size_t(c.x) ^ size_t(c.y);
    }
};

using Visited = std::unordered_map<Cell, Cell, CellHash>;

static bool blocked(Cell c) {
    return c.x < 0 || c.y < 0 || c.x >= 400 || c.y >= 400 || (c.x % 6 == 3 && c.y % 17 != 5);
}

static int way(Cell from, Cell to) {
    Visited came;
    std::deque<Cell> edge{from};
    came[from] = from;
    while (!edge.empty()) {
        Cell c = edge.front();
        edge.pop_front();
        if (c == to) break;
        for (Cell d : {Cell{1, 0}, Cell{-1, 0}, Cell{0, 1}, Cell{0, -1}}) {
            Cell n{c.x + d.x, c.y + d.y};
            if (!blocked(n) && came.emplace(n, c).second) edge.push_back(n);
        }
    }
    int steps = 0;
    for (auto at = came.find(to); at != came.end() && !(at->first == from); at = came.find(at->second)) steps++;
    return steps;
}

int main(int, char **v) {
    mixed = !strcmp(v[1], "mixed");
    std::mt19937 rnd(11);
    auto cell = [&] {
        for (;;) {
            Cell c{int(rnd() % 400), int(rnd() % 400)};
            if (!blocked(c)) return c;
        }
    };
    long ways = 0, steps = 0;
    auto next = std::chrono::steady_clock::now();
    for (;;) {
        steps += way(cell(), cell());
        ways++;
        if (std::chrono::steady_clock::now() > next) {
            next += std::chrono::milliseconds(500);
            printf("done %ld\n", ways);
            fflush(stdout);
        }
    }
}
