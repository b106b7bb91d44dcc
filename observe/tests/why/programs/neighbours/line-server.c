// A remote service: answers each line with a line after DELAY_US. line-server SECONDS DELAY_US; prints its port
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long delay_us;

static void *serve(void *connection) {
  int fd = (int)(long)connection, on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char line[4096];
  unsigned answers = 0;
  for (ssize_t n; (n = read(fd, line, sizeof line)) > 0;) {
    if (line[n - 1] != '\n') continue;
    if (delay_us) usleep(delay_us);
    int bytes = snprintf(line, sizeof line, "OK %u\n", 1000 + answers++ % 977);
    if (write(fd, line, bytes) != bytes) break;
  }
  close(fd);
  return NULL;
}

static void *serve_all(void *listener) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  for (;;) {
    long fd = accept((int)(long)listener, NULL, NULL);
    pthread_t thread;
    if (fd < 0) return NULL;
    if (pthread_create(&thread, &small, serve, (void *)fd)) close(fd);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "line-server SECONDS DELAY_US\n"), 2;
  delay_us = atol(argv[2]);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  long fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, 256)) return perror("line-server"), 1;
  getsockname(fd, (struct sockaddr *)&address, &size);
  pthread_t thread;
  pthread_create(&thread, NULL, serve_all, (void *)fd);
  printf("listening %d\nready\n", ntohs(address.sin_port));
  fflush(stdout);
  sleep(atoi(argv[1]));
  return 0;
}
