// LZW encoder for animation frames.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define W 320
#define H 200
static uint8_t frame[W * H];
static int16_t next_code[4096][256];

static void draw(unsigned n) {
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) frame[y * W + x] = ((x + n) ^ (y * 3)) & 0x3f;
}

static size_t lzw(uint32_t *sum) {
  size_t bits = 0;
  int codes = 258, width = 9, cur = frame[0];
  memset(next_code, 0xff, sizeof next_code);
  for (size_t i = 1; i < W * H; i++) {
    uint8_t c = frame[i];
    if (next_code[cur][c] >= 0) {
      cur = next_code[cur][c];
      continue;
    }
    bits += width;
    *sum = *sum * 31 + cur;
    if (codes < 4096) {
      next_code[cur][c] = codes++;
      if (codes > 1 << width && width < 12) width++;
    } else {
      memset(next_code, 0xff, sizeof next_code);
      codes = 258;
      width = 9;
    }
    cur = c;
  }
  return bits / 8;
}

int main(void) {
  uint32_t sum = 0;
  size_t bytes = 0;
  time_t last = 0;
  for (unsigned n = 1;; n++) {
    draw(n);
    bytes += lzw(&sum);
    if (time(0) != last) {
      last = time(0);
      printf("done %u bytes %zu sum %08x\n", n, bytes, sum);
      fflush(stdout);
    }
  }
}
