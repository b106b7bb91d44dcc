// Finds nearest neighbours: a query puts its distances to all vectors into a scratch area of its own.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

static const int DIM = 12, N = 120000;
static std::vector<float> vectors;
static std::atomic<long> searches{0}, hits{0}, scoreUs{0}, scratchUs{0};
struct Candidate { float d; int id; char payload[120]; };

static long cpu_us() { timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000; }
static __attribute__((noinline)) float l2(const float* a, const float* b) {
    float s = 0;
    for (int i = 0; i < DIM; i++) { float d = a[i] - b[i]; s += d * d; }
    return s;
}
static void collect(Candidate* out, const std::vector<float>& dist) {
    for (int i = 0; i < N; i++) { out[i].d = dist[i]; out[i].id = i; }
}
static int nearest(const float* q, std::vector<float>& dist) {
    long t0 = cpu_us();
    for (int probe = 0; probe < 20; probe++)               // twenty sub-queries of the request
        for (int i = 0; i < N; i++) {
            float d = l2(q + probe, &vectors[(size_t)i * DIM]);
            dist[i] = probe ? std::min(dist[i], d) : d;
        }
    long t1 = cpu_us();
    size_t bytes = (size_t)N * sizeof(Candidate);
    Candidate* scratch = (Candidate*)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (scratch == MAP_FAILED) { perror("mmap"); exit(1); }
    collect(scratch, dist);
    int best = 0;
    for (int i = 1; i < N; i += 7) if (scratch[i].d < scratch[best].d) best = i;
    munmap(scratch, bytes);
    scoreUs += t1 - t0; scratchUs += cpu_us() - t1;
    return best;
}
static void worker(int id) {
    char name[16]; snprintf(name, 16, "search-%02d", id); pthread_setname_np(pthread_self(), name);
    std::vector<float> dist(N);
    std::mt19937 g(id); std::uniform_real_distribution<float> u(0, 1);
    for (;;) {
        float q[DIM + 20]; for (float& x : q) x = u(g);
        hits += nearest(q, dist) & 1; searches++;
    }
}
int main() {
    alarm(120);
    std::mt19937 g(7); std::uniform_real_distribution<float> u(0, 1);
    vectors.resize((size_t)N * DIM); for (float& x : vectors) x = u(g);
    for (int i = 0; i < 2; i++) std::thread(worker, i).detach();
    for (long last = 0;;) { sleep(2); long h = searches;
        printf("searches/s %ld cpu s: scoring %.1f scratch %.1f\n", (h - last) / 2, scoreUs / 1e6, scratchUs / 1e6);
        fflush(stdout); last = h; }
}
