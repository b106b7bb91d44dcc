// Noise filter for an audio stream: blocks of 256 samples in 8 channels.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

static const int CH = 8, LEN = 256;
struct Channel { float in[LEN], out[LEN], state[4]; };
static Channel channels[CH];

static void biquad(Channel &c, float f) {
  for (int i = 0; i < LEN; i++) {
    float y = f * c.in[i] + 0.3f * c.state[0] + 0.2f * c.state[1] - 0.4f * c.state[2] - 0.1f * c.state[3];
    c.state[1] = c.state[0];
    c.state[0] = c.in[i];
    c.state[3] = c.state[2];
    c.state[2] = y;
    c.out[i] = y;
  }
}

static void apply(bool helpers, float f) {
  if (!helpers) {
    for (Channel &c : channels) biquad(c, f);
    return;
  }
  std::vector<std::thread> t;
  for (Channel &c : channels) t.emplace_back([&c, f] { biquad(c, f); });
  for (auto &x : t) x.join();
}

int main(int argc, char **argv) {
  bool helpers = argc > 1 && !strcmp(argv[1], "helpers");
  time_t last = 0;
  for (long block = 1;; block++) {
    for (int c = 0; c < CH; c++)
      for (int i = 0; i < LEN; i += 8) channels[c].in[i] = float((block * 7 + c + i) % 100) / 100;
    apply(helpers, 0.25f);
    if (time(nullptr) != last) {
      last = time(nullptr);
      printf("done %ld %f\n", block, channels[3].out[9]);
      fflush(stdout);
    }
  }
}
