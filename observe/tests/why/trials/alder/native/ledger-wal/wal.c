// Ledger write-ahead log: a validator thread produces records, the log thread appends them.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RING 1024
struct record { long id; long debit, credit; char memo[136]; };
static struct record ring[RING];
static long head, tail, applied;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;

static void *validator(void *a) {
  (void)a;
  for (long id = 1;; id++) {
    struct record r = {.id = id, .debit = id % 997, .credit = id % 991};
    snprintf(r.memo, sizeof r.memo, "transfer %ld from %ld to %ld", id, r.debit, r.credit);
    pthread_mutex_lock(&m);
    while (head - tail == RING) pthread_cond_wait(&room, &m);
    ring[head++ % RING] = r;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&m);
  }
}

static void append(int fd, const struct record *r, int n, off_t *at) {
  if (pwrite(fd, r, n * sizeof *r, *at) < 0) exit(1);
  *at += n * sizeof *r;
  if (*at > 32 << 20) *at = 0;  // next segment
  if (fdatasync(fd)) exit(1);
}

int main(int argc, char **argv) {
  int group = argc > 2 ? atoi(argv[2]) : 1;
  int fd = open(argv[1], O_CREAT | O_WRONLY, 0600);
  off_t at = 0;
  time_t last = 0;
  pthread_t t;
  struct record *batch = malloc(group * sizeof *batch);
  pthread_create(&t, 0, validator, 0);
  for (;;) {
    int n = 0;
    pthread_mutex_lock(&m);
    while (head == tail) pthread_cond_wait(&more, &m);
    while (n < group && tail < head) batch[n++] = ring[tail++ % RING];
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&m);
    append(fd, batch, n, &at);
    applied += n;
    if (time(0) != last) {
      last = time(0);
      printf("done %ld\n", applied);
      fflush(stdout);
    }
  }
}
