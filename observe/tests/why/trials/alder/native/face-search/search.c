// Face search: vectors of 1024 floats in a mapped file, probes against a random candidate list.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIM 1024
static uint64_t rnd = 88172645463325252ull;

static uint64_t next(void) {
  rnd ^= rnd << 13;
  rnd ^= rnd >> 7;
  rnd ^= rnd << 17;
  return rnd;
}

static float compare(const float *v, const float *probe) {
  float s = 0;
  for (int i = 0; i < DIM; i++) s += (v[i] - probe[i]) * (v[i] - probe[i]);
  return s;
}

int main(int argc, char **argv) {
  struct stat st;
  int fd = open(argv[1], O_RDONLY);
  if (argc < 2 || fd < 0 || fstat(fd, &st)) return 1;
  size_t faces = st.st_size / (DIM * sizeof(float));
  const float *all = mmap(0, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (all == MAP_FAILED) return 1;
  madvise((void *)all, st.st_size, MADV_RANDOM);
  float probe[DIM];
  for (int i = 0; i < DIM; i++) probe[i] = i % 7;
  time_t last = 0;
  size_t best = 0;
  float least = 1e30f;
  for (long n = 1;; n++) {
    size_t k = next() % faces;
    float d = compare(all + k * DIM, probe);
    if (d < least) {
      least = d;
      best = k;
    }
    if (n % 16 == 0 && time(0) != last) {
      last = time(0);
      printf("done %ld best %zu\n", n, best);
      fflush(stdout);
    }
  }
}
