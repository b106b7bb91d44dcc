// Partners that fetch exports over thin lines: each asks for one, reads it to its end at its own pace, asks again.
// export-reader SECONDS PORT CONNECTIONS KB_PER_SECOND
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READ_BYTES = 8 << 10 };

static int port;
static long pause_us;

static void *partner(void *unused) {
  (void)unused;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char bytes[READ_BYTES];
  for (;;) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), window = 8 << 10;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) return NULL;
    if (write(fd, "EXPORT\n", 7) != 7) return NULL;
    while (read(fd, bytes, sizeof bytes) > 0) usleep(pause_us);
    close(fd);
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return fprintf(stderr, "export-reader SECONDS PORT CONNECTIONS KB_PER_SECOND\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  port = atoi(argv[2]);
  pause_us = READ_BYTES / 1024 * 1000000L / atol(argv[4]);
  for (long i = 0; i < atol(argv[3]); i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, partner, NULL);
    usleep(5000);
  }
  printf("ready\n");
  fflush(stdout);
  sleep(atoi(argv[1]));
  return 0;
}
