// Runs one function on n threads and returns when all are done. The caller is thread 0.
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
