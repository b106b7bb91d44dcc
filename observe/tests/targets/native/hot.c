// Three quarters of its time in one function, a quarter in another, built without frame pointers. hot SECONDS [THREADS]
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void spin(double seconds) {
  double end = cpu() + seconds;
  while (cpu() < end)
    for (int i = 0; i < 20000; i++) sink += sink * 31 + i;
}

// Neither inlined nor tail-called, so that they appear in stacks.
__attribute__((noinline)) void costs_three_quarters(void) { spin(0.001); sink++; }
__attribute__((noinline)) void costs_a_quarter(void) { spin(0.001); sink++; }

static void *work(void *argument) {
  double end = *(double *)argument;
  // At random, because a fixed rhythm might match the sampling rate.
  unsigned seed = (unsigned)((uintptr_t)&end >> 12);
  while (now() < end) {
    if (rand_r(&seed) % 4 < 3) costs_three_quarters();
    else costs_a_quarter();
  }
  return NULL;
}

int main(int argc, char **argv) {
  double end = now() + (argc > 1 ? atof(argv[1]) : 10);
  int threads = argc > 2 ? atoi(argv[2]) : 1;
  pthread_t *all = calloc(threads, sizeof *all);
  puts("ready");
  fflush(stdout);
  for (int i = 1; i < threads; i++) pthread_create(&all[i], NULL, work, &end);
  work(&end);
  for (int i = 1; i < threads; i++) pthread_join(all[i], NULL);
  free(all);
  return 0;
}
