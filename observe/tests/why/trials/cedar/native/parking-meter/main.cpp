#include "tariffs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct alignas(128) Desk {
    std::atomic<long> fees{0};
    long cents = 0;
};

static int fee(const Tariff &t, unsigned from, unsigned minutes)
{
    int sum = 0;
    for (unsigned m = 0; m < minutes; m += 30)
        sum += t.cents_per_hour[(from + m / 60) % 24] / 2;
    return std::min(sum, t.most_per_day);
}

static void serve(const Tariffs &tariffs, Desk &d, int batch)
{
    unsigned n = 1;
    for (;;) {
        auto t = tariffs.current();
        for (int i = 0; i < batch; i++) {
            n = n * 1664525u + 1013904223u;
            d.cents += fee(*t, n >> 27, (n >> 16) % 300);
        }
        d.fees.fetch_add(batch, std::memory_order_relaxed);
    }
}

int main(int, char **argv)
{
    static Tariffs tariffs;
    static Desk desks[4];
    int batch = std::atoi(argv[1]);
    for (auto &d : desks)
        std::thread(serve, std::cref(tariffs), std::ref(d), batch).detach();
    std::puts("ready");
    for (int day = 1;; day++) {
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        Tariff next = *tariffs.current();
        next.day = day;
        tariffs.replace(std::make_shared<const Tariff>(next));
        long sum = 0;
        for (auto &d : desks)
            sum += d.fees;
        std::printf("total %ld\n", sum);
    }
}
