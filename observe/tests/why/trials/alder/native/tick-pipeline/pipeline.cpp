// Market feed: the decoder turns packets into ticks, the book applies them.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

struct Tick { int instrument; int price; int size; };

class Exchange {
  std::mutex m;
  std::condition_variable full, empty;
  std::vector<Tick> slot;

 public:
  void put(std::vector<Tick> &&v) {
    std::unique_lock<std::mutex> l(m);
    empty.wait(l, [&] { return slot.empty(); });
    slot = std::move(v);
    full.notify_one();
  }
  std::vector<Tick> take() {
    std::unique_lock<std::mutex> l(m);
    full.wait(l, [&] { return !slot.empty(); });
    std::vector<Tick> v;
    v.swap(slot);
    empty.notify_one();
    return v;
  }
};

static Exchange line;

static void decoder(size_t group) {
  unsigned x = 2463534242u;
  std::vector<Tick> v;
  for (;;) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    v.push_back({int(x % 500), int(10000 + x % 77), int(x % 9)});
    if (v.size() >= group) {
      line.put(std::move(v));
      v = {};
      v.reserve(group);
    }
  }
}

int main(int argc, char **argv) {
  size_t group = argc > 1 ? strtoul(argv[1], 0, 10) : 1;
  std::thread(decoder, group).detach();
  std::vector<long> book(500);
  long n = 0;
  time_t last = 0;
  for (;;) {
    for (const Tick &t : line.take()) {
      book[t.instrument] += long(t.price) * t.size;
      n++;
    }
    if (time(nullptr) != last) {
      last = time(nullptr);
      printf("done %ld %ld\n", n, book[7]);
      fflush(stdout);
    }
  }
}
