// EDIFACT importer: segments end with ', fields are separated by +, components by :
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct input { int fd; size_t cap, len, at; char *buf; };

static int next_char(struct input *in) {
  if (in->at == in->len) {
    ssize_t n = read(in->fd, in->buf, in->cap);
    if (n <= 0) return -1;
    in->len = n;
    in->at = 0;
  }
  return (unsigned char)in->buf[in->at++];
}

struct totals { long segments, fields, qty; uint32_t hash; };

static void end_field(struct totals *t, char *f, int n) {
  f[n] = 0;
  t->fields++;
  for (int i = 0; i < n; i++) t->hash = t->hash * 31 + f[i];
  if (!strncmp(f, "QTY", 3)) t->qty++;
}

static int import_file(const char *path, size_t cap, struct totals *t, time_t *last) {
  struct input in = {open(path, O_RDONLY), cap, 0, 0, malloc(cap)};
  char field[512];
  int n = 0, c;
  if (in.fd < 0) return -1;
  while ((c = next_char(&in)) >= 0) {
    if (c == '+' || c == ':') {
      end_field(t, field, n);
      n = 0;
    } else if (c == '\'') {
      end_field(t, field, n);
      n = 0;
      if (++t->segments % 256 == 0 && time(0) != *last) {
        *last = time(0);
        printf("done %ld\n", t->segments);
        fflush(stdout);
      }
    } else if (n < 500) {
      field[n++] = c;
    }
  }
  close(in.fd);
  free(in.buf);
  return 0;
}

int main(int argc, char **argv) {
  struct totals t = {0};
  time_t last = 0;
  size_t cap = argc > 2 ? strtoul(argv[2], 0, 10) : 1;
  while (import_file(argv[1], cap, &t, &last) == 0)
    ;
  return 1;
}
