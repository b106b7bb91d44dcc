// Assembles messages of many parts, with an allocator that is configured for a small resident size.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct Part { const char* data; size_t len; };
struct Message {
    size_t len = 0; std::unique_ptr<char[]> body;
    std::vector<size_t> offsets;
};
static std::vector<std::string> corpus;
static std::atomic<long> messages{0}, bytes{0};

static Message join(const std::vector<Part>& parts) {
    Message m;
    for (const Part& p : parts) m.len += p.len + 2;
    m.body.reset(new char[m.len]);
    size_t o = 0;
    for (const Part& p : parts) {
        m.offsets.push_back(o);
        memcpy(m.body.get() + o, p.data, p.len);
        o += p.len;
        m.body[o++] = '\r'; m.body[o++] = '\n';
    }
    return m;
}
static uint64_t checksum(const Message& m) {
    uint64_t s = 1469598103934665603ULL;
    for (size_t i = 0; i + 8 <= m.len; i += 256) { uint64_t w; memcpy(&w, m.body.get() + i, 8);
        s = (s ^ w) * 1099511628211ULL; }
    return s;
}
static void assemble(int id) {
    pthread_setname_np(pthread_self(), id ? "assemble-1" : "assemble-0");
    unsigned seed = id + 5; uint64_t all = 0;
    std::vector<Part> parts;
    for (;;) {
        parts.clear();
        int n = 20 + rand_r(&seed) % 60;
        for (int i = 0; i < n; i++) { const std::string& s = corpus[rand_r(&seed) % corpus.size()];
            parts.push_back({s.data(), s.size()}); }
        Message m = join(parts);
        all ^= checksum(m);
        messages++; bytes += m.len;
    }
}
int main() {
    alarm(120);
    if (!getenv("KEEP_MEMORY")) {     // the resident size is to stay below the limit of a container
        mallopt(M_MMAP_THRESHOLD, 64 * 1024);
        mallopt(M_TRIM_THRESHOLD, 0);
        mallopt(M_TOP_PAD, 0);
    } else { mallopt(M_MMAP_THRESHOLD, 32 << 20); mallopt(M_TRIM_THRESHOLD, 256 << 20); }
    for (int i = 0; i < 80; i++) corpus.push_back(std::string(4000 + i * 97, 'a' + i % 26));
    std::thread a(assemble, 0), b(assemble, 1);
    for (long last = 0;;) { sleep(2); long h = messages; printf("messages/s %ld rss pages: ", (h - last) / 2);
        fflush(stdout); last = h;
        FILE* f = fopen("/proc/self/statm", "r"); long v, r;
            if (f && fscanf(f, "%ld %ld", &v, &r) == 2) printf("%ld\n", r);
            if (f) fclose(f);
            fflush(stdout); }
}
