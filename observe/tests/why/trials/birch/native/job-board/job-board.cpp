// job-board: hands small rating jobs of a broker's clients to a crew of worker threads.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

struct Job {
    int client;
    double amount;
};

class Board {
    std::mutex m;
    std::condition_variable changed, room;
    std::deque<Job> jobs;
    bool all;

public:
    explicit Board(bool all) : all(all) {}

    void post(Job j) {
        {
            std::unique_lock<std::mutex> l(m);
            room.wait(l, [&] { return jobs.size() < 4; });
            jobs.push_back(j);
        }
        if (all) changed.notify_all();
        else changed.notify_one();
    }

    Job take() {
        std::unique_lock<std::mutex> l(m);
        changed.wait(l, [&] { return !jobs.empty(); });
        Job j = jobs.front();
        jobs.pop_front();
        room.notify_one();
        return j;
    }
};

static std::atomic<long> done;

static double rate(const Job &j) {
    double x = j.amount;
    for (int i = 0; i < 60; i++) x = std::sqrt(x * x + j.client % 7 + i);
    return x;
}

int main(int, char **v) {
    Board board(!strcmp(v[1], "all"));
    std::vector<std::thread> crew;
    for (int i = 0; i < 160; i++)
        crew.emplace_back([&] {
            for (;;) {
                volatile double r = rate(board.take());
                (void)r;
                done++;
            }
        });
    std::thread intake([&] {
        for (int n = 0;; n++) board.post({n, n % 5000 + 0.5});
    });
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        printf("done %ld\n", done.load());
        fflush(stdout);
    }
}
