// A resolver that knows every name: answers each query after DELAY_MS, A with 127.0.0.1, others with nothing.
// name-server SECONDS DELAY_MS; listens on 127.0.0.153, port 53
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { QUERIES_MAX = 4096, BYTES_MAX = 512, HEADER_BYTES = 12, TYPE_A = 1 };

struct query {
  struct sockaddr_in from;
  long due_ms;
  ssize_t bytes;
  unsigned char message[BYTES_MAX + 64];
};

static struct query queries[QUERIES_MAX];

static long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// RFC 1035, 4.1: the question stays; an address record that points at the question's name follows it.
static void answer(int fd, struct query *q) {
  unsigned char *m = q->message;
  ssize_t end = HEADER_BYTES;
  while (end < q->bytes && m[end]) end += m[end] + 1;
  end += 5;
  if (end > q->bytes) return;
  int type = m[end - 4] << 8 | m[end - 3];
  m[2] = 0x85;
  m[3] = 0x80;
  memset(m + 6, 0, 6);
  if (type == TYPE_A) {
    static const unsigned char record[] = {0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1};
    m[7] = 1;
    memcpy(m + end, record, sizeof record);
    end += sizeof record;
  }
  sendto(fd, m, end, 0, (struct sockaddr *)&q->from, sizeof q->from);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "name-server SECONDS DELAY_MS\n"), 2;
  long delay_ms = atol(argv[2]), end_ms = now_ms() + atol(argv[1]) * 1000;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(53)};
  inet_pton(AF_INET, "127.0.0.153", &address.sin_addr);
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(fd, (struct sockaddr *)&address, sizeof address)) return perror("name-server"), 1;
  printf("ready\n");
  fflush(stdout);
  unsigned in = 0, out = 0;
  for (long now; (now = now_ms()) < end_ms;) {
    while (out != in && queries[out % QUERIES_MAX].due_ms <= now) answer(fd, &queries[out++ % QUERIES_MAX]);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    long until = out != in ? queries[out % QUERIES_MAX].due_ms : end_ms;
    if (poll(&wait, 1, until > now ? (int)(until - now) : 0) != 1 || in - out == QUERIES_MAX) continue;
    struct query *q = &queries[in % QUERIES_MAX];
    socklen_t size = sizeof q->from;
    q->bytes = recvfrom(fd, q->message, BYTES_MAX, 0, (struct sockaddr *)&q->from, &size);
    q->due_ms = now_ms() + delay_ms;
    if (q->bytes > HEADER_BYTES) in++;
  }
  return 0;
}
