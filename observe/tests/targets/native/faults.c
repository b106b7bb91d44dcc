// Page faults with exactly known number, kind and address: faults WHAT PAGES
// Prints `ready`, does its work after a line of input, prints `done BEGIN END FAULTS` (the range, and the faults that
// the system counted during the work), and ends when its input ends.
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096L
#define HUGE_PAGE (2L << 20)
#define SEEN __attribute__((noipa))

static char *begin;
static size_t bytes;
static long counted;
static volatile char sink;

static long faults_until_now(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt + used.ru_majflt;
}

SEEN void writes_each(void) {
  for (size_t i = 0; i < bytes; i += PAGE) begin[i] = 1;
}

SEEN void reads_each(void) {
  for (size_t i = 0; i < bytes; i += PAGE) sink += begin[i];
}

static void count(void (*touch)(void)) {
  long before = faults_until_now();
  touch();
  counted += faults_until_now() - before;
}

static void *mapped(int flags, int fd) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) exit(1);
  return at;
}

static void first_touch(void) {
  begin = mapped(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  count(writes_each);
}

static void unmapped_at_once(void) {
  first_touch();
  munmap(begin, bytes);
}

static void again(void) {
  begin = mapped(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  for (int i = 0; i < 5; i++) {
    count(writes_each);
    madvise(begin, bytes, MADV_DONTNEED);
  }
}

static void copy_on_write(void) {
  begin = mapped(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  count(writes_each);
  counted = 0;
  int until[2];
  if (pipe(until) != 0) exit(1);
  pid_t child = fork();
  if (child == 0) {
    close(until[1]);
    char c;
    // The child's faults, not its parent's.
    writes_each();
    _exit(read(until[0], &c, 1) == 0 ? 0 : 1);
  }
  close(until[0]);
  count(writes_each);
  close(until[1]);
  waitpid(child, NULL, 0);
}

static void shared(void) {
  begin = mapped(MAP_SHARED | MAP_ANONYMOUS, -1);
  count(writes_each);
}

static int file(void) {
  int fd = open(getenv("MAPPED_FILE"), O_RDWR);
  if (fd < 0) exit(1);
  return fd;
}

static void of_file(void) {
  begin = mapped(MAP_SHARED, file());
  count(reads_each);
}

// Writes pages that are mapped for reading.
static void write_notice(void) {
  begin = mapped(MAP_SHARED, file());
  reads_each();
  count(writes_each);
}

static void heap(void) {
  begin = sbrk(bytes);
  begin += -(uintptr_t)begin & (PAGE - 1);
  bytes -= PAGE;
  count(writes_each);
}

SEEN static void on_the_stack(void) {
  begin = alloca(bytes);
  // Downwards, in the direction that stacks grow.
  for (size_t i = bytes; i >= PAGE; i -= PAGE) ((volatile char *)begin)[i - PAGE] = 1;
}

static void stack(void) { count(on_the_stack); }

static void *of_thread(void *argument) {
  (void)argument;
  stack();
  return NULL;
}

static void thread_stack(void) {
  pthread_t thread;
  pthread_attr_t large;
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, bytes + (1 << 20));
  pthread_create(&thread, &large, of_thread, NULL);
  pthread_join(thread, NULL);
}

static void huge(void) {
  char *at = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  begin = at + (-(uintptr_t)at & (HUGE_PAGE - 1));
  madvise(begin, bytes, MADV_HUGEPAGE);
  count(writes_each);
}

// The kernel touches the pages for the program.
static void by_kernel(void) {
  int zero = open("/dev/zero", O_RDONLY);
  begin = mapped(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  long before = faults_until_now();
  if (read(zero, begin, bytes) != (ssize_t)bytes) exit(1);
  counted = faults_until_now() - before;
}

static void idle(void) {}

int main(int argc, char **argv) {
  const struct { const char *name; void (*does)(void); } all[] = {
    {"first-touch", first_touch}, {"unmapped", unmapped_at_once}, {"again", again}, {"copy-on-write", copy_on_write},
    {"shared", shared},
    {"file", of_file}, {"write-notice", write_notice}, {"heap", heap}, {"stack", stack},
    {"thread-stack", thread_stack}, {"huge", huge},
    {"by-kernel", by_kernel}, {"idle", idle},
  };
  bytes = (argc > 2 ? atol(argv[2]) : 100) * PAGE;
  int is_on_command = argc < 4 || strcmp(argv[3], "at-once") != 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (argc < 2 || strcmp(all[i].name, argv[1]) != 0) continue;
    char line[8];
    if (is_on_command) {
      puts("ready");
      fflush(stdout);
      if (!fgets(line, sizeof line, stdin)) return 1;
    }
    all[i].does();
    printf("done %lu %lu %ld\n", (unsigned long)begin, (unsigned long)(begin + bytes), counted);
    fflush(stdout);
    if (is_on_command)
      while (fgets(line, sizeof line, stdin)) {}
    return 0;
  }
  return 2;
}
