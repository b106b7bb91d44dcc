// Prepares X-ray frames for viewing: offset, two smoothing passes, then a histogram which sets the contrast.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

constexpr int kWidth = 3600, kHeight = 3000;
constexpr size_t kPixels = size_t(kWidth) * kHeight;

using Plane = std::unique_ptr<float[]>;

class Planes {
 public:
  explicit Planes(bool keep) : keep_(keep) {}
  Plane take() {
    if (!kept_.empty()) {
      Plane p = std::move(kept_.back());
      kept_.pop_back();
      return p;
    }
    return Plane(new float[kPixels]);
  }
  void give(Plane p) {
    if (keep_) kept_.push_back(std::move(p));
  }

 private:
  bool keep_;
  std::vector<Plane> kept_;
};

struct Sensor {
  std::vector<uint16_t> raw = std::vector<uint16_t>(kPixels);
  Sensor() {
    for (size_t i = 0; i < kPixels; i++) raw[i] = uint16_t((i * 2654435761u) >> 18);
  }
};

Plane calibrate(const Sensor& s, Planes& planes, float offset) {
  Plane out = planes.take();
  for (size_t i = 0; i < kPixels; i++) out[i] = s.raw[i] - offset;
  return out;
}

Plane smooth(Plane in, Planes& planes, size_t step) {
  Plane out = planes.take();
  for (size_t i = 0; i < step; i++) out[i] = in[i], out[kPixels - 1 - i] = in[kPixels - 1 - i];
  for (size_t i = step; i + step < kPixels; i++) out[i] = 0.25f * (in[i - step] + 2 * in[i] + in[i + step]);
  planes.give(std::move(in));
  return out;
}

float contrast(const Plane& p) {
  unsigned bins[256] = {};
  for (size_t i = 0; i < kPixels; i += 8) bins[(unsigned(p[i]) >> 6) & 255]++;
  unsigned seen = 0, bin = 0;
  while (bin < 255 && seen < kPixels / 16) seen += bins[bin++];
  return bin * 64.0f;
}

std::atomic<long> prepared{0};

void prepare(const Sensor& sensor, bool keep) {
  Planes planes(keep);
  volatile float level = 0;
  for (int n = 0;; n++) {
    Plane p = calibrate(sensor, planes, 40.0f + n % 7);
    p = smooth(std::move(p), planes, 1);
    p = smooth(std::move(p), planes, kWidth);
    level = contrast(p);
    planes.give(std::move(p));
    prepared++;
  }
}

int main(int argc, char** argv) {
  bool keep = argc > 1 && std::string(argv[1]) == "b";
  Sensor sensor;
  std::thread one(prepare, std::cref(sensor), keep), two(prepare, std::cref(sensor), keep);
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::printf("prepared %ld\n", prepared.load());
    std::fflush(stdout);
  }
}
