// Parcel plant: the planner decides for each parcel, the belt concerned moves it.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

static std::atomic<long> decision{0};  // number of the round
static std::atomic<bool> sleepy{false};
static std::mutex m;
static std::condition_variable changed;
static long moved[8];

struct Belt {
  int id;
  long round = 0;

  void wait() {
    if (sleepy) {
      std::unique_lock<std::mutex> l(m);
      changed.wait(l, [&] { return decision.load() != round; });
    } else {
      while (decision.load(std::memory_order_acquire) == round) __builtin_ia32_pause();
    }
    round = decision.load();
  }

  void run() {
    for (;;) {
      wait();
      moved[id] += round % 3;
    }
  }
};

static int plan(long n) {  // assignment of parcels to belts: a small search
  static int cost[64][8];
  for (int i = 0; i < 64; i++)
    for (int k = 0; k < 8; k++) cost[i][k] = int((n * 31 + i * 17 + k * 7) % 101);
  int best = 1 << 30;
  for (int r = 0; r < 400; r++) {
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += cost[i][(i * r + i / 8) & 7];
    if (sum < best) best = sum;
  }
  return best;
}

int main(int argc, char **argv) {
  sleepy = argc > 1 && !strcmp(argv[1], "sleepy");
  for (int i = 0; i < 8; i++) std::thread([i] { Belt b{i}; b.run(); }).detach();
  time_t last = 0;
  long total = 0;
  for (long n = 1;; n++) {
    total += plan(n);
    if (n % 20 == 0) {
      std::lock_guard<std::mutex> l(m);
      decision++;
      changed.notify_all();
    }
    if (time(nullptr) != last) {
      last = time(nullptr);
      printf("done %ld %ld\n", n, total);
      fflush(stdout);
    }
  }
}
