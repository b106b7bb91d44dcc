// The same function on n threads, the caller being thread 0; returns when all are done.
#pragma once
#include <thread>
#include <vector>

template <class F>
void on_threads(int n, F f) {
    std::vector<std::thread> others;
    for (int t = 1; t < n; t++) others.emplace_back(f, t);
    f(0);
    for (auto& t : others) t.join();
}
