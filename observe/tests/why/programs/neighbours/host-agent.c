// A host agent: its collectors read the kernel's data of every process and keep digests. host-agent SECONDS COLLECTORS
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile uint64_t latest;

static uint64_t digest(uint64_t h, const char *bytes, ssize_t n) {
  for (int round = 0; round < 40; round++)
    for (ssize_t i = 0; i < n; i++) h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
  return h;
}

static void *collect(void *unused) {
  (void)unused;
  static const char *const files[] = {"stat", "status", "statm"};
  for (;;) {
    DIR *processes = opendir("/proc");
    if (!processes) return NULL;
    uint64_t h = 14695981039346656037u;
    for (struct dirent *e; (e = readdir(processes));) {
      if (e->d_name[0] < '1' || e->d_name[0] > '9') continue;
      for (int i = 0; i < 3; i++) {
        char path[300], bytes[4096];
        snprintf(path, sizeof path, "/proc/%s/%s", e->d_name, files[i]);
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        ssize_t n = read(fd, bytes, sizeof bytes);
        close(fd);
        if (n > 0) h = digest(h, bytes, n);
      }
    }
    closedir(processes);
    latest = h;
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "host-agent SECONDS COLLECTORS\n"), 2;
  for (int i = 0; i < atoi(argv[2]); i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, collect, NULL);
  }
  printf("ready\n");
  fflush(stdout);
  sleep(atoi(argv[1]));
  return 0;
}
