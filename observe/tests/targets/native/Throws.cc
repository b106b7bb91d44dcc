// C++ exceptions through watched functions: Throws NUMBER
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace shop {

volatile long sink;

struct Till {
  __attribute__((noinline)) long sell(const std::string &what, long number) {
    sink = sink + 1;
    if (number % 2) throw std::runtime_error(what);
    return number * 2;
  }
};

__attribute__((noinline)) long passes(Till &till, long number) {
  std::string what = "sold out";
  long result = till.sell(what, number);
  sink = sink + 1;
  return result + 1;
}

}  // namespace shop

int main(int argc, char **argv) {
  shop::Till till;
  long caught = 0, n = argc > 1 ? std::atol(argv[1]) : 10;
  char line[8];
  std::puts("ready");
  std::fflush(stdout);
  if (!std::fgets(line, sizeof line, stdin)) return 1;
  for (long i = 0; i < n; i++) {
    try {
      shop::passes(till, i);
    } catch (const std::runtime_error &) {
      caught++;
    }
  }
  std::printf("done %ld\n", caught);
  std::fflush(stdout);
  while (std::fgets(line, sizeof line, stdin)) {}
}
