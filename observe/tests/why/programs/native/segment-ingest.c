// Ingest of a log store: writers append records to segments held in memory; a full one is sealed by its checksum.
// segment-ingest SECONDS [--cured]; cured: a sealed segment is used again
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WRITERS = 2, SEGMENT_BYTES = 48 << 20, RETAINED = 4 };

struct record {
  uint64_t time, series;
  double value;
  uint32_t flags, check;
};

struct segment {
  struct record *records;
  size_t used;
  uint64_t checksum;
};

static _Atomic uint64_t appended;
static int recycle;

static struct record *map_segment(void) {
  void *at = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) abort();
  return at;
}

static void open_segment(struct segment *s) {
  if (s->records && !recycle) {
    munmap(s->records, SEGMENT_BYTES);
    s->records = NULL;
  }
  if (!s->records) s->records = map_segment();
  s->used = 0;
  s->checksum = 0;
}

static void append(struct segment *s, uint64_t time, uint64_t sample) {
  struct record *r = &s->records[s->used++];
  r->time = time;
  r->series = sample % 4093;
  r->value = (double)(sample >> 40);
  r->flags = (uint32_t)(sample & 7);
  r->check = (uint32_t)(time ^ sample ^ sample >> 32);
  s->checksum = s->checksum * 31 + r->check;
}

static void *writer(void *unused) {
  (void)unused;
  struct segment segments[RETAINED] = {{0}};
  uint64_t sample = 88172645463325252u;
  for (uint64_t time = 0, turn = 0;; turn++) {
    struct segment *s = &segments[turn % RETAINED];
    open_segment(s);
    while (s->used < SEGMENT_BYTES / sizeof(struct record)) {
      for (int i = 0; i < 4096; i++) {
        sample ^= sample << 13, sample ^= sample >> 7, sample ^= sample << 17;
        append(s, ++time, sample);
      }
      atomic_fetch_add(&appended, 4096);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 60;
  recycle = argc > 2 && !strcmp(argv[2], "--cured");
  for (int i = 0; i < WRITERS; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
  }
  sleep(1);
  printf("ready\n");
  fflush(stdout);
  uint64_t before = appended;
  sleep(seconds);
  printf("operations %llu in %d s\n", (unsigned long long)(appended - before), seconds);
  return 0;
}
