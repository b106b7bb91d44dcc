// Frame decoder: a worker per camera; expands run-length coded rows into a frame buffer.
#include <malloc.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

static std::atomic<long> frames{0};
static std::atomic<uint64_t> digest{0};

struct Run { uint16_t len; uint8_t value; };

struct Camera {
  std::vector<Run> runs;
  explicit Camera(unsigned seed) {
    srand(seed);
    for (int i = 0; i < 120; i++) runs.push_back({uint16_t(40000 + rand() % 20000), uint8_t(rand())});
  }
};

static uint64_t decode(const Camera &cam, uint8_t *out, size_t size) {
  size_t at = 0;
  for (const Run &r : cam.runs) {
    size_t n = std::min<size_t>(r.len, size - at);
    for (size_t i = 0; i < n; i += 512) out[at + i] = r.value;  // key pixels only
    at += n;
  }
  uint64_t h = 1469598103934665603ull;
  for (size_t i = 0; i < at; i += 4096) h = (h ^ out[i]) * 1099511628211ull;
  return h;
}

static void camera_loop(int id, bool keep) {
  Camera cam(id);
  const size_t size = 6 << 20;
  std::vector<uint8_t> kept;
  if (keep) kept.resize(size);
  for (;;) {
    if (keep) {
      digest ^= decode(cam, kept.data(), size);
    } else {
      uint8_t *frame = static_cast<uint8_t *>(malloc(size));
      digest ^= decode(cam, frame, size);
      free(frame);
    }
    frames++;
  }
}

int main(int argc, char **argv) {
  bool keep = argc > 1 && !strcmp(argv[1], "--pool");
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // big frames must go back to the system
  for (int i = 0; i < 2; i++) std::thread(camera_loop, i, keep).detach();
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    printf("done %ld\n", frames.load());
    fflush(stdout);
  }
}
