// Key-value node: front-end threads talk to it over socket pairs, one command a message.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUCKETS 4096
struct entry { char key[24]; char val[64]; };
static struct entry table[BUCKETS];
static long served;

static unsigned hash(const char *k) {
  unsigned h = 5381;
  while (*k) h = h * 33 + (unsigned char)*k++;
  return h % BUCKETS;
}

static int command(char *line, char *out, int cap) {
  char *verb = strtok(line, " "), *key = strtok(0, " "), *val = strtok(0, " ");
  if (!verb || !key) return snprintf(out, cap, "ERR");
  struct entry *e = &table[hash(key)];
  if (verb[0] == 'S' && val) {
    snprintf(e->key, sizeof e->key, "%s", key);
    snprintf(e->val, sizeof e->val, "%s", val);
    return snprintf(out, cap, "OK");
  }
  return snprintf(out, cap, "%s", strcmp(e->key, key) ? "NIL" : e->val);
}

static void *front(void *a) {
  int fd = *(int *)a;
  char b[128];
  for (unsigned i = 0;; i++) {
    int n = i % 4 ? snprintf(b, sizeof b, "GET user:%u", i % 5000)
                  : snprintf(b, sizeof b, "SET user:%u token-%u", i % 5000, i);
    if (write(fd, b, n + 1) < 0 || read(fd, b, sizeof b) <= 0) exit(1);
  }
}

int main(void) {
  int sv[2];
  pthread_t t;
  time_t last = 0;
  char in[128], out[128];
  socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv);
  pthread_create(&t, 0, front, &sv[1]);
  for (;;) {
    ssize_t n = read(sv[0], in, sizeof in);
    if (n <= 0) return 1;
    int k = command(in, out, sizeof out);
    if (write(sv[0], out, k + 1) < 0) return 1;
    if (++served % 64 == 0 && time(0) != last) {
      last = time(0);
      printf("done %ld\n", served);
      fflush(stdout);
    }
  }
}
