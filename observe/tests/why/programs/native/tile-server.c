// Renders map tiles: decodes the layers of a tile into buffers, blends and packs them, gives the buffers back.
// tile-server SECONDS [--cured]; cured: the allocator as the C library sets it up
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RENDERERS = 2, LAYERS = 4, SIDE = 512, LAYER_BYTES = SIDE * SIDE * 4 };

static _Atomic uint64_t rendered;

static uint32_t *decode(uint32_t tile, int layer) {
  uint32_t *pixels = malloc(LAYER_BYTES);
  uint32_t colour = tile * 2654435761u + layer;
  for (int i = 0; i < SIDE * SIDE;) {
    colour = colour * 1664525u + 1013904223u;
    int end = i + 64 + (int)(colour >> 24);
    for (; i < end && i < SIDE * SIDE; i++) pixels[i] = colour;
  }
  return pixels;
}

static void blend(uint32_t *below, const uint32_t *above) {
  for (int i = 0; i < SIDE * SIDE; i++) below[i] = (below[i] & 0xfefefefeu) / 2 + (above[i] & 0xfefefefeu) / 2;
}

static size_t pack(const uint32_t *pixels, unsigned char *packed) {
  size_t n = 0;
  for (int i = 0; i < SIDE * SIDE;) {
    int start = i;
    while (i < SIDE * SIDE && pixels[i] == pixels[start] && i - start < 255) i++;
    packed[n++] = (unsigned char)(i - start);
    memcpy(packed + n, &pixels[start], 4);
    n += 4;
  }
  return n;
}

static size_t render(uint32_t tile) {
  uint32_t *layers[LAYERS];
  for (int i = 0; i < LAYERS; i++) layers[i] = decode(tile, i);
  for (int i = 1; i < LAYERS; i++) blend(layers[0], layers[i]);
  unsigned char *packed = malloc(SIDE * SIDE * 5);
  size_t bytes = pack(layers[0], packed);
  free(packed);
  for (int i = LAYERS; i-- > 0;) free(layers[i]);
  return bytes;
}

static void *renderer(void *first) {
  for (uint32_t tile = (uint32_t)(long)first;; tile += RENDERERS) {
    if (render(tile)) atomic_fetch_add(&rendered, 1);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 60;
  if (argc < 3 || strcmp(argv[2], "--cured")) {
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 10);
  }
  for (long i = 0; i < RENDERERS; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, renderer, (void *)i);
  }
  sleep(1);
  printf("ready\n");
  fflush(stdout);
  uint64_t before = rendered;
  sleep(seconds);
  printf("operations %llu in %d s\n", (unsigned long long)(rendered - before), seconds);
  return 0;
}
