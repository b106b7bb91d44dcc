// Runs queries that sum rows by customer, each in an arena of its own.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Row { uint64_t customer; uint32_t cents; uint32_t shop; };
struct Group { uint64_t key; uint64_t sum; uint32_t n, maxCents; char pad[40]; };

class Arena {                       // one reservation per query, given back with the query
    char* base; size_t size;
public:
    explicit Arena(size_t n) : size(n) {
        base = (char*)mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) { perror("mmap"); exit(1); }
    }
    ~Arena() { munmap(base, size); }
    template <class T> T* array() { return (T*)base; }
};

static std::vector<Row> block;
static std::atomic<long> queries{0}, groups{0};
static size_t slots = 1 << 20;      // 64 MB of groups

static inline uint64_t mix(uint64_t k) { k ^= k >> 33; k *= 0xff51afd7ed558ccdULL; return k ^ (k >> 29); }

static long aggregate(Group* table, size_t from, size_t rows) {
    long n = 0;
    for (size_t i = 0; i < rows; i++) {
        const Row& r = block[(from + i) % block.size()];
        size_t h = mix(r.customer) & (slots - 1);
        while (table[h].n && table[h].key != r.customer) h = (h + 1) & (slots - 1);
        Group& g = table[h];
        if (!g.n) { g.key = r.customer; n++; }
        g.n++; g.sum += r.cents;
        if (r.cents > g.maxCents) g.maxCents = r.cents;
    }
    return n;
}
static void run(int id) {
    char name[16]; snprintf(name, 16, "exec-%d", id); pthread_setname_np(pthread_self(), name);
    bool reuse = getenv("ARENA_REUSE");
    Arena* kept = reuse ? new Arena(slots * sizeof(Group)) : nullptr;
    for (size_t q = id * 1000;; q++) {
        if (reuse) {                // same table, the old groups stay
            groups += aggregate(kept->array<Group>(), q * 977, 20000);
        } else {
            Arena a(slots * sizeof(Group));
            groups += aggregate(a.array<Group>(), q * 977, 20000);
        }
        queries++;
    }
}
int main() {
    alarm(120);
    std::mt19937_64 g(1);
    for (int i = 0; i < 400000; i++) block.push_back({g() % 5000000, (uint32_t)(g() % 100000), (uint32_t)(g() % 700)});
    for (int i = 0; i < 2; i++) std::thread(run, i).detach();
    for (long last = 0;;) { sleep(2); long h = queries; printf("queries/s %ld\n", (h - last) / 2); fflush(stdout);
        last = h; }
}
