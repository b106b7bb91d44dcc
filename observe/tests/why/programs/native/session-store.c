// A store of sessions in memory, saved again and again by a process of its own that writes what the store held.
// session-store SECONDS [--cured]; cured: changes go to a log instead
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SESSIONS = 2 << 20, LOG_BYTES = 1 << 20, SAVE_CHUNK = 1 << 20 };

struct session {
  uint64_t user, seen, visits;
  char page[104];
};

static struct session *sessions;
static pid_t saver;
static char change_log[LOG_BYTES];
static size_t logged;
static int out;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void save(void) {
  const char *at = (const char *)sessions, *end = (const char *)(sessions + SESSIONS);
  for (; at < end; at += SAVE_CHUNK) {
    if (write(out, at, SAVE_CHUNK) != SAVE_CHUNK) _exit(1);
    usleep(1000);
  }
  _exit(0);
}

static void keep_saving(void) {
  if (saver && waitpid(saver, NULL, WNOHANG) == 0) return;
  pid_t parent = getpid();
  saver = fork();
  if (saver) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  save();
}

static void log_change(const struct session *s) {
  if (logged + sizeof *s > sizeof change_log) {
    if (write(out, change_log, logged) < 0) exit(1);
    logged = 0;
  }
  memcpy(change_log + logged, s, sizeof *s);
  logged += sizeof *s;
}

static struct session *visit(uint64_t key, uint64_t time) {
  struct session *s = &sessions[key % SESSIONS];
  s->user = key;
  s->seen = time;
  s->visits++;
  snprintf(s->page, sizeof s->page, "/item/%llu", (unsigned long long)(key >> 44));
  return s;
}

int main(int argc, char **argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 60;
  int logs = argc > 2 && !strcmp(argv[2], "--cured");
  out = open("/dev/null", O_WRONLY);
  sessions = mmap(NULL, sizeof *sessions * SESSIONS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sessions == MAP_FAILED) return perror("session-store"), 1;
  uint64_t key = 88172645463325252u, visits = 0;
  for (uint64_t i = 0; i < SESSIONS; i++) visit(i, 0);
  double start = now() + 1, end = start + seconds;
  for (int ready = 0;;) {
    double time = now();
    if (!ready && time >= start) {
      ready = 1;
      visits = 0;
      printf("ready\n");
      fflush(stdout);
    }
    if (time >= end) break;
    if (!logs) keep_saving();
    for (int i = 0; i < 1000; i++, visits++) {
      key ^= key << 13, key ^= key >> 7, key ^= key << 17;
      struct session *s = visit(key, visits);
      if (logs) log_change(s);
    }
  }
  if (saver > 0) kill(saver, SIGKILL), waitpid(saver, NULL, 0);
  printf("operations %llu in %d s\n", (unsigned long long)visits, seconds);
  return 0;
}
