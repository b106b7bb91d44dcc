// Reduces traces of a sensor: decodes a batch into samples, smooths them by the median of a window, keeps the peaks.
// trace-reduce SECONDS [--cured=first-touch|--cured=hot-method]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORKERS = 2, SAMPLES = 4 << 20, WINDOW = 31, STRIDE = 96, BATCH_BYTES = SAMPLES * 8 };

static _Atomic uint64_t reduced;
static int keep_batch, count_median;

static uint64_t *take_batch(uint64_t *last) {
  if (last && keep_batch) return last;
  if (last) munmap(last, BATCH_BYTES);
  void *at = mmap(NULL, BATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) abort();
  return at;
}

static uint64_t decode(uint64_t *samples, uint64_t state) {
  for (int i = 0; i < SAMPLES; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    samples[i] = state >> 56;
  }
  return state;
}

static uint64_t median_of_sorted(const uint64_t *window) {
  uint64_t sorted[WINDOW];
  for (int i = 0; i < WINDOW; i++) {
    int j = i;
    for (; j > 0 && sorted[j - 1] > window[i]; j--) sorted[j] = sorted[j - 1];
    sorted[j] = window[i];
  }
  return sorted[WINDOW / 2];
}

static uint64_t median_by_counts(const uint64_t *window) {
  unsigned char counts[16] = {0};
  for (int i = 0; i < WINDOW; i++) counts[window[i] >> 4]++;
  int seen = 0, band = 0;
  while ((seen += counts[band]) <= WINDOW / 2) band++;
  return band << 4;
}

static uint64_t peaks(const uint64_t *samples) {
  uint64_t found = 0, last = 0;
  for (int i = 0; i + WINDOW < SAMPLES; i += STRIDE) {
    uint64_t level = count_median ? median_by_counts(samples + i) : median_of_sorted(samples + i);
    found += level > 128 && last <= 128;
    last = level;
  }
  return found;
}

static void *worker(void *seed) {
  uint64_t state = (uint64_t)(long)seed, *samples = NULL;
  for (;;) {
    samples = take_batch(samples);
    state = decode(samples, state);
    if (peaks(samples)) atomic_fetch_add(&reduced, 1);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 60;
  keep_batch = argc > 2 && !strcmp(argv[2], "--cured=first-touch");
  count_median = argc > 2 && !strcmp(argv[2], "--cured=hot-method");
  for (long i = 0; i < WORKERS; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, (void *)(i + 1));
  }
  sleep(1);
  printf("ready\n");
  fflush(stdout);
  uint64_t before = reduced;
  sleep(seconds);
  printf("operations %llu in %d s\n", (unsigned long long)(reduced - before), seconds);
  return 0;
}
