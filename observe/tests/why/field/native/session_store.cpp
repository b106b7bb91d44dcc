// Keeps sessions in memory; a child process writes what its parent had at the fork.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

struct Session { uint64_t token; uint32_t user, hits; uint64_t last; char data[232]; };
static Session* table;
static size_t count = 1100ull * 1024 * 1024 / sizeof(Session);
static std::atomic<long> updates{0};
static std::atomic<bool> saving{false};

static uint64_t next_token(uint64_t& s) { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return s; }

static void touch(uint64_t token, uint64_t now) {
    Session& s = table[token % count];
    if (s.token != token) { s.token = token; s.user = token >> 40; s.hits = 0; memcpy(s.data, &token, 8); }
    s.hits++;
    s.last = now;
}
static void serve() {
    pthread_setname_np(pthread_self(), "store-io");
    uint64_t seed = 88172645463325252ULL, now = 0;
    for (;;) {
        for (int i = 0; i < 500; i++) touch(next_token(seed), ++now);
        updates += 500;
    }
}
static void save_child() {           // paced, so as not to disturb the disk
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(20);
    FILE* f = fopen("/dev/null", "w");
    const size_t step = count / 40;
    for (size_t i = 0; i + step <= count; i += step) {
        fwrite(&table[i], sizeof(Session), 2000, f);
        usleep(10000);
    }
    fclose(f);
    _exit(0);
}
int main(int, char**) {
    alarm(120);
    table = (Session*)mmap(nullptr, count * sizeof(Session), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
            0);
    for (size_t i = 0; i < count; i++) { table[i].token = i; table[i].user = i; }
    std::thread(serve).detach();
    bool save = !getenv("NO_SAVE");
    auto t = std::chrono::steady_clock::now();
    long last = 0, saves = 0;
    for (;;) {
        if (save) {
            pid_t p = fork();
            if (p == 0) save_child();
            if (p > 0) { waitpid(p, nullptr, 0); saves++; }
        } else usleep(400000);
        auto n = std::chrono::steady_clock::now();
        double s = std::chrono::duration<double>(n - t).count();
        if (s >= 2) { long u = updates; printf("updates/s %.0f saves %ld\n", (u - last) / s, saves); fflush(stdout);
            last = u; t = n; }
    }
}
