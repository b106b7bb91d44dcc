// Reads records of a chunked file through a cache of mapped chunks; the oldest makes room for one that is missing.
// chunk-cache SECONDS [--cured]; cured: the file is mapped as one
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_BYTES = 4096, CHUNKS = 100000, CACHED = 60000, RECORD_BYTES = 64 };

static const unsigned char *chunks[CHUNKS];
static unsigned order[CACHED], oldest, cached;
static int file;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static int make_file(void) {
  int fd = memfd_create("chunks", 0);
  unsigned char chunk[CHUNK_BYTES];
  for (unsigned i = 0; i < CHUNKS; i++) {
    for (unsigned j = 0; j < CHUNK_BYTES; j++) chunk[j] = (unsigned char)(i * 31 + j * j);
    if (write(fd, chunk, sizeof chunk) != sizeof chunk) return -1;
  }
  return fd;
}

static const unsigned char *map(unsigned chunk, unsigned count) {
  void *at = mmap(NULL, (size_t)count * CHUNK_BYTES, PROT_READ, MAP_SHARED, file, (off_t)chunk * CHUNK_BYTES);
  if (at == MAP_FAILED) perror("chunk-cache"), exit(1);
  return at;
}

static const unsigned char *fetch(unsigned chunk) {
  if (chunks[chunk]) return chunks[chunk];
  if (cached == CACHED) {
    unsigned last = order[oldest];
    munmap((void *)chunks[last], CHUNK_BYTES);
    chunks[last] = NULL;
    order[oldest] = chunk;
    oldest = (oldest + 1) % CACHED;
  } else {
    order[cached++] = chunk;
  }
  return chunks[chunk] = map(chunk, 1);
}

static uint32_t sum(const unsigned char *record) {
  uint32_t h = 2166136261u;
  for (int i = 0; i < RECORD_BYTES; i++) h = (h ^ record[i]) * 16777619u;
  return h;
}

int main(int argc, char **argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 60;
  file = make_file();
  if (file < 0) return perror("chunk-cache"), 1;
  if (argc > 2 && !strcmp(argv[2], "--cured")) {
    const unsigned char *all = map(0, CHUNKS);
    for (unsigned i = 0; i < CHUNKS; i++) chunks[i] = all + (size_t)i * CHUNK_BYTES;
  }
  uint64_t key = 88172645463325252u, reads = 0;
  volatile uint32_t sums = 0;
  double start = now() + 1.5, end = start + seconds;
  for (int ready = 0;;) {
    double time = now();
    if (!ready && time >= start) {
      ready = 1;
      reads = 0;
      printf("ready\n");
      fflush(stdout);
    }
    if (time >= end) break;
    for (int i = 0; i < 1000; i++, reads++) {
      key ^= key << 13, key ^= key >> 7, key ^= key << 17;
      const unsigned char *chunk = fetch((unsigned)(key >> 20) % CHUNKS);
      sums += sum(chunk + key % (CHUNK_BYTES / RECORD_BYTES) * RECORD_BYTES);
    }
  }
  printf("operations %llu in %d s\n", (unsigned long long)reads, seconds);
  return 0;
}
