// Surveys a folder of files again and again: lines, words, a histogram and a checksum of each. file-survey SECONDS
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 2, FILES = 32, FILE_BYTES = 1 << 20, READ_BYTES = 64 << 10 };

struct survey {
  uint64_t lines, words, histogram[256];
  uint32_t adler_low, adler_high;
  double mean, spread;
};

static char folder[] = "survey.XXXXXX";
static _Atomic uint64_t surveyed;
static _Atomic int ending;

static void path_of(int file, char *path, size_t bytes) { snprintf(path, bytes, "%s/%d.txt", folder, file); }

static void make_files(void) {
  static const char *const words[] = {"river", "stone", "a", "bridge", "of", "light", "and", "winter\n", "house",
      "the", "sea\n"};
  uint32_t r = 12345;
  for (int i = 0; i < FILES; i++) {
    char path[64];
    path_of(i, path, sizeof path);
    FILE *out = fopen(path, "w");
    if (!out) perror(path), exit(1);
    for (long n = 0; n < FILE_BYTES;) {
      r = r * 1664525u + 1013904223u;
      n += fprintf(out, "%s ", words[(r >> 16) % 11]);
    }
    fclose(out);
  }
}

static void remove_files(void) {
  for (int i = 0; i < FILES; i++) {
    char path[64];
    path_of(i, path, sizeof path);
    unlink(path);
  }
  rmdir(folder);
}

static void count_words(struct survey *s, const unsigned char *bytes, ssize_t n) {
  int in_word = 0;
  for (ssize_t i = 0; i < n; i++) {
    s->lines += bytes[i] == '\n';
    int letter = bytes[i] > ' ';
    s->words += letter && !in_word;
    in_word = letter;
  }
}

static void count_bytes(struct survey *s, const unsigned char *bytes, ssize_t n) {
  for (ssize_t i = 0; i < n; i++) s->histogram[bytes[i]]++;
}

static void checksum(struct survey *s, const unsigned char *bytes, ssize_t n) {
  for (ssize_t i = 0; i < n; i++) {
    s->adler_low = (s->adler_low + bytes[i]) % 65521;
    s->adler_high = (s->adler_high + s->adler_low) % 65521;
  }
}

static void moments(struct survey *s, const unsigned char *bytes, ssize_t n) {
  for (ssize_t i = 0; i < n; i++) {
    double d = bytes[i] - s->mean;
    s->mean += d * 0x1p-16;
    s->spread += d * d;
  }
}

static void (*const measures[])(struct survey *, const unsigned char *, ssize_t) = {count_words, count_bytes,
    checksum, moments};

static void survey_file(int file) {
  char path[64];
  static __thread unsigned char bytes[READ_BYTES];
  path_of(file, path, sizeof path);
  struct survey s = {.adler_low = 1};
  int fd = open(path, O_RDONLY);
  if (fd < 0) return;
  for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;) {
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) measures[i](&s, bytes, n);
  }
  close(fd);
  if (s.lines) atomic_fetch_add(&surveyed, 1);
}

static void *worker(void *first) {
  for (int file = (int)(long)first; !ending; file = (file + WORKERS) % FILES) survey_file(file);
  return NULL;
}

int main(int argc, char **argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 60;
  pthread_t workers[WORKERS];
  if (!mkdtemp(folder)) return perror(folder), 1;
  make_files();
  for (long i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, worker, (void *)i);
  sleep(1);
  printf("ready\n");
  fflush(stdout);
  uint64_t before = surveyed;
  sleep(seconds);
  printf("operations %llu in %d s\n", (unsigned long long)(surveyed - before), seconds);
  ending = 1;
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  remove_files();
  return 0;
}
