// Clients of a line service: each connection sends a line and waits for the line that answers it.
// After the answer BUSY it waits a little. line-client SECONDS PORT CONNECTIONS INTERVAL_US; one request per interval,
// 0
// for no limit
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BACK_OFF_US = 5000 };

static int port;
static long interval_us;

static long now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static void *connection(void *number) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address)) return NULL;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  static __thread char line[65536];
  unsigned key = 7919u * (unsigned)(long)number;
  long next = now_us();
  for (;;) {
    key = key * 1664525u + 1013904223u;
    int bytes = snprintf(line, sizeof line, "GET %u\n", key >> 12);
    if (write(fd, line, bytes) != bytes) return NULL;
    int busy = 0;
    for (ssize_t n = 0, reads = 0; !n || line[n - 1] != '\n'; reads++) {
      n = read(fd, line, sizeof line);
      if (n <= 0) return NULL;
      if (reads == 0) busy = n >= 4 && !memcmp(line, "BUSY", 4);
    }
    if (busy) usleep(BACK_OFF_US);
    next += interval_us;
    long wait = next - now_us();
    if (wait > 0) usleep(wait);
    else next -= wait;
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return fprintf(stderr, "line-client SECONDS PORT CONNECTIONS INTERVAL_US\n"), 2;
  port = atoi(argv[2]);
  interval_us = atol(argv[4]);
  for (long i = 0; i < atol(argv[3]); i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, connection, (void *)(i + 1));
  }
  printf("ready\n");
  fflush(stdout);
  sleep(atoi(argv[1]));
  return 0;
}
