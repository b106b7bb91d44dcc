// heat-flow: simulates the flow of heat in walls of houses; each thread has a wall of its own.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

static constexpr int N = 200;
static std::atomic<long> steps;

class Wall {
    std::vector<double> now, next;
    double outside;

public:
    explicit Wall(double outside) : now(N * N, 20.0), next(N * N, 20.0), outside(outside) {}

    double step(int hour) {
        double change = 0;
        for (int i = 0; i < N; i++) now[i] = outside + 5 * std::sin(hour * 0.26);
        for (int y = 1; y < N - 1; y++)
            for (int x = 1; x < N - 1; x++) {
                int c = y * N + x;
                double k = y % 40 < 30 ? 0.2 : 0.05;
                next[c] = now[c] + k * (now[c - 1] + now[c + 1] + now[c - N] + now[c + N] - 4 * now[c]);
                change += std::fabs(next[c] - now[c]);
            }
        now.swap(next);
        return change;
    }
};

int main() {
    unsigned n = std::thread::hardware_concurrency();
    std::vector<std::thread> walls;
    for (unsigned i = 0; i < n; i++)
        walls.emplace_back([i] {
            Wall w(-5.0 - i);
            for (int h = 0;; h++)
                if (w.step(h) >= 0) steps++;
        });
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        printf("done %ld\n", steps.load());
        fflush(stdout);
    }
}
