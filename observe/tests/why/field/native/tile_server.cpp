// Serves map tiles from one big file, of which it keeps tiles mapped; when all places are taken, one tile makes room
// for the next.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

static const size_t TILE = 8192;
class TileCache {
    int fd; size_t tiles, limit;
    std::vector<char*> mapped;
public:
    uint64_t mapNs = 0, unmapNs = 0;
    TileCache(const char* path, size_t tiles, size_t limit) : tiles(tiles), limit(limit) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || ftruncate(fd, tiles * TILE)) { perror(path); exit(1); }
        unlink(path);
    }
    const char* tile(size_t n) {
        auto t = std::chrono::steady_clock::now();
        char** slot = nullptr;              // full: some tile makes room
        if (mapped.size() >= limit) { slot = &mapped[n * 2654435761u % limit]; munmap(*slot, TILE); }
        auto t1 = std::chrono::steady_clock::now();
        char* p = (char*)mmap(nullptr, TILE, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, (n % tiles) * TILE);
        if (p == MAP_FAILED) { perror("mmap"); exit(1); }
        if (slot) *slot = p; else mapped.push_back(p);
        unmapNs += (t1 - t).count();
        mapNs += (std::chrono::steady_clock::now() - t1).count();
        return p;
    }
    size_t size() const { return mapped.size(); }
};
static uint32_t render(const char* tile, unsigned zoom) {
    uint32_t s = zoom;
    for (int i = 0; i < 2048; i += 8) s = s * 31 + (unsigned char)tile[i];
    return s;
}
int main() {
    alarm(120);
    size_t limit = getenv("MAX_TILES") ? atol(getenv("MAX_TILES")) : 64000;
    TileCache cache("tiles.pack", 100003, limit);
    uint64_t seed = 42; uint32_t sum = 0; long served = 0, last = 0; uint64_t lm = 0, lu = 0;
    auto t = std::chrono::steady_clock::now();
    for (;;) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        sum ^= render(cache.tile((seed >> 33) * 7), seed >> 60);
        if (++served % 1000 == 0) {
            double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
            if (s >= 2) {
                printf("tiles/s %.0f mapped %zu mmap us %.2f munmap us %.2f (%u)\n", (served - last) / s,
                        cache.size(), (cache.mapNs - lm) / 1e3 / (served - last),
                        (cache.unmapNs - lu) / 1e3 / (served - last), sum);
                fflush(stdout); last = served; lm = cache.mapNs; lu = cache.unmapNs;
                    t = std::chrono::steady_clock::now();
            }
        }
    }
}
