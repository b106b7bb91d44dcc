// Locks with known wait times, which the program measures and prints itself. It prints `ready`, runs its rounds after a
// line of input, and prints each lock's address and wait time, and how long a thread waited for a condition. locks
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define WAITERS 2
#define ROUNDS 20
#define KINDS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void take_mutex(void) { pthread_mutex_lock(&mutex); }
static void leave_mutex(void) { pthread_mutex_unlock(&mutex); }
static void take_rwlock(void) { pthread_rwlock_wrlock(&rwlock); }
static void leave_rwlock(void) { pthread_rwlock_unlock(&rwlock); }
static void take_semaphore(void) { sem_wait(&semaphore); }
static void leave_semaphore(void) { sem_post(&semaphore); }

static struct kind {
  const char *name;
  void *at;
  size_t bytes;
  void (*take)(void);
  void (*leave)(void);
  _Atomic int round, coming, done;
  _Atomic uint64_t waited_ns;
} kinds[KINDS] = {
    {"mutex", &mutex, sizeof mutex, take_mutex, leave_mutex, 0, 0, 0, 0},
    {"read-write lock", &rwlock, sizeof rwlock, take_rwlock, leave_rwlock, 0, 0, 0, 0},
    {"semaphore", &semaphore, sizeof semaphore, take_semaphore, leave_semaphore, 0, 0, 0, 0},
};

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void sleep_ms(int ms) {
  struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

static void *wait_for_it(void *argument) {
  struct kind *kind = argument;
  for (int round = 1; round <= ROUNDS; round++) {
    while (kind->round < round) sleep_ms(1);
    kind->coming++;
    uint64_t begin = now();
    kind->take();
    kind->waited_ns += now() - begin;
    kind->leave();
    kind->done++;
  }
  return NULL;
}

// Not inlined, so that it appears in stacks.
__attribute__((noinline)) void lets_it_go(struct kind *kind) { kind->leave(); kind->round += 0; }

static void *hold(void *argument) {
  struct kind *kind = argument;
  for (int round = 1; round <= ROUNDS; round++) {
    kind->take();
    kind->round = round;
    while (kind->coming < round * WAITERS) sleep_ms(1);
    sleep_ms(12);
    lets_it_go(kind);
    while (kind->done < round * WAITERS) sleep_ms(1);
  }
  return NULL;
}

static void *wait_for_condition(void *unused) {
  (void)unused;
  struct timespec end;
  pthread_mutex_lock(&condition_mutex);
  for (int i = 0; i < 10; i++) {
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 20000000;
    if (end.tv_nsec >= 1000000000) { end.tv_sec++; end.tv_nsec -= 1000000000; }
    pthread_cond_timedwait(&condition, &condition_mutex, &end);
  }
  pthread_mutex_unlock(&condition_mutex);
  return NULL;
}

int main(void) {
  pthread_t threads[KINDS * (WAITERS + 1) + 1];
  int started = 0;
  sem_init(&semaphore, 0, 1);
  puts("ready");
  fflush(stdout);
  getchar();
  pthread_create(&threads[started++], NULL, wait_for_condition, NULL);
  for (int i = 0; i < KINDS; i++) {
    for (int n = 0; n < WAITERS; n++) pthread_create(&threads[started++], NULL, wait_for_it, &kinds[i]);
    pthread_create(&threads[started++], NULL, hold, &kinds[i]);
  }
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
  printf("[");
  for (int i = 0; i < KINDS; i++)
    printf("%s{\"name\": \"%s\", \"at\": %ju, \"bytes\": %zu, \"waits\": %d, \"total_ns\": %ju}", i ? ", " : "",
        kinds[i].name, (uintmax_t)kinds[i].at,
           kinds[i].bytes, ROUNDS * WAITERS, (uintmax_t)kinds[i].waited_ns);
  printf("]\n");
  fflush(stdout);
  getchar();
  getchar();
  return 0;
}
