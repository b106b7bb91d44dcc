// Order session with the exchange gateway: one order at a time, strict request/response.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int gw;
static volatile long reports;

static int checksum(const char *b, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += (unsigned char)b[i];
  return s % 256;
}

static int send_all(const char *b, int n) {
  while (n > 0) {
    ssize_t k = send(gw, b, n, 0);
    if (k <= 0) return -1;
    b += k;
    n -= k;
  }
  return 0;
}

static int new_order(long seq) {
  char body[256], head[64], rep[256];
  int n = snprintf(body, sizeof body, "35=D|34=%ld|55=ABC|54=1|38=%ld|44=101.25", seq, 100 + seq % 900);
  int h = snprintf(head, sizeof head, "8=FIX.4.4|9=%d|10=%03d|", n, checksum(body, n));
  body[n++] = '\n';
  if (send_all(head, h) || send_all(body, n)) return -1;
  int got = 0;
  while (got < (int)sizeof rep - 1) {
    ssize_t k = recv(gw, rep + got, sizeof rep - 1 - got, 0);
    if (k <= 0) return -1;
    got += k;
    if (rep[got - 1] == '\n') break;
  }
  reports++;
  return 0;
}

static void *heartbeat(void *a) {  // keeps the session log alive
  (void)a;
  for (;;) {
    sleep(1);
    printf("done %ld\n", reports);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
  int one = argc > 2 ? atoi(argv[2]) : 0;
  inet_pton(AF_INET, "127.0.0.1", &sa.sin_addr);
  gw = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(gw, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(gw, (struct sockaddr *)&sa, sizeof sa)) return 1;
  pthread_t t;
  pthread_create(&t, 0, heartbeat, 0);
  for (long seq = 1; new_order(seq) == 0; seq++)
    ;
  return 1;
}
