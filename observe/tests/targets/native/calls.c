// Calls with exactly known number, arguments and stack, built without frame pointers: calls WHAT [NUMBER]
// Prints `ready`, does its work after a line of input, prints `done`, and ends when its input ends.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Hides a function's body from the optimiser: arguments are written before the call.
#define SEEN __attribute__((noipa))

static volatile long sink;
static jmp_buf back_to;

// ---- watched functions ----

SEEN long plain(long number, const char *text) {
  sink += text ? text[0] : 0;
  return number * 3;
}

SEEN void naps(long ms) {
  nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
  sink++;
}

// Recurses `levels` deep; returns the number of calls below.
SEEN long deep(long levels) {
  if (levels == 0) return 0;
  long below = deep(levels - 1);
  sink++;
  return below + 1;
}

SEEN long back(long x) {
  sink++;
  return x + 1;
}

// Ends by a jump.
SEEN long front(long x) {
  sink++;
  return back(x * 2);
}

SEEN void jumps_out(long x) {
  sink++;
  if (x >= 0) longjmp(back_to, 1);
  sink++;
}

SEEN void through(long x) {
  jumps_out(x);
  sink++;
}

SEEN void says(const char *text, const struct sockaddr *address) {
  sink += text != NULL;
  sink += address != NULL;
}

SEEN long many(int a, long b, size_t c, void *d, const char *e, int f) {
  sink += a + b + c + (long)d + f + (e != NULL);
  return -5;
}

// Returns by a jump, without a `ret`.
__asm__(".globl hides\n.type hides, @function\nhides: pop %rdx\n mov %rdi, %rax\n jmp *%rdx\n.size hides, .-hides\n");
long hides(long x);

// ---- callers ----

SEEN long inner(long i) {
  char text[32];
  snprintf(text, sizeof text, "text %ld", i);
  return plain(i, text) + sink % 2;
}

SEEN long outer(long i) { return inner(i) + sink % 2; }

static void calls(long n) {
  for (long i = 0; i < n; i++) outer(i);
}

static void napping(long n) {
  for (long i = 0; i < n; i++) naps(i == 0 ? 80 : 5);
}

static void recursion(long n) {
  for (long i = 0; i < n; i++) deep(9);
}

static void tail(long n) {
  for (long i = 0; i < n; i++) sink += front(i);
}

static void jumping(long n) {
  for (volatile long i = 0; i < n; i++)
    if (setjmp(back_to) == 0) through(i);
  through(-1);
}

static void hiding(long n) {
  for (long i = 0; i < n; i++) sink += hides(i);
}

static void arguments(long n) {
  (void)n;
  long page = sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + page, page);
  char *at_end = strcpy(pages + page - 7, "at end");
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(8080), .sin_addr.s_addr = htonl(0x7f000001)};
  struct sockaddr_in *v4_at_end = memcpy(pages + page - 7 - sizeof v4, &v4, sizeof v4);
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
  v6.sin6_addr.s6_addr[15] = 1;
  struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
  says("hello", (struct sockaddr *)&v4);
  says("a \"b\"\n\033[31m", (struct sockaddr *)&v6);
  says(at_end, (struct sockaddr *)v4_at_end);
  says("0123456789012345678901234567890123456789012345678901234567890123456789", (struct sockaddr *)&local);
  says("", NULL);
  says(NULL, (struct sockaddr *)0x10);
  says((const char *)0x10, NULL);
  says(NULL, (struct sockaddr *)&v4);
  pages[page - 1] = 'x';
  says(pages + page - 1, NULL);
  many(-1, -2, 3, (void *)0xabc, "five", 6);
}

static void system_calls(long n) {
  for (long i = 0; i < n; i++) {
    sink += open("/nonexistent/file", O_RDONLY);
    close(-1);
    close(dup(0));
  }
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(0x7f000001)};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sink += connect(fd, (struct sockaddr *)&v4, sizeof v4);
  struct timespec wanted = {.tv_nsec = 50000000};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &wanted, NULL);
}

// `library:function` and a tracepoint that nothing else calls.
static void library(long n) {
  for (long i = 0; i < n; i++) sink += getpriority(0, 0);
}

static void *thread(void *number) {
  for (long i = 0; i < 5; i++) outer((long)number);
  return NULL;
}

static void threads(long n) {
  pthread_t *all = calloc(n, sizeof *all);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (long i = 0; i < n; i++)
    if (pthread_create(&all[i], &small, thread, (void *)i) != 0) exit(1);
  for (long i = 0; i < n; i++) pthread_join(all[i], NULL);
  free(all);
}

static void *waits(void *number) {
  (void)number;
  naps(600);
  return NULL;
}

// Calls that are still running at the end of the measurement.
static void waiting(long n) {
  for (long i = 0; i < n; i++) {
    pthread_t one;
    pthread_create(&one, NULL, waits, NULL);
    pthread_detach(one);
  }
  usleep(50000);
}

static void forks(long n) {
  pid_t child = fork();
  calls(child == 0 ? 10 * n : n);
  if (child == 0) _exit(7);
  int status;
  waitpid(child, &status, 0);
  calls(n);
  if (WEXITSTATUS(status) != 7) exit(1);
}

static void executes(long n) {
  calls(n);
  execl("/bin/cat", "cat", NULL);
}

static void dies(long n) {
  calls(n);
  raise(SIGKILL);
}

// A library that is loaded later calls the C library.
static void loads(long n) {
  void *late = dlopen(getenv("LATE_LIBRARY"), RTLD_NOW);
  void (*late_call)(long) = late ? (void (*)(long))dlsym(late, "late_call") : NULL;
  if (!late_call) exit(1);
  for (long i = 0; i < n; i++) late_call(i);
}

// As fast as possible; prints its speed ten times per second.
static void fast(long n) {
  for (long round = 0; round < n; round++) {
    struct timespec begin, now;
    long calls = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
      for (int i = 0; i < 100; i++) plain(i, "fast");
      calls += 100;
      clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1e9 + now.tv_nsec - begin.tv_nsec < 1e8);
    printf("%ld\n", calls);
    fflush(stdout);
  }
}

static void allocates(long n) {
  for (long i = 0; i < n; i++) {
    char *p = malloc(100 + i);
    sink += (long)p;
    free(p);
  }
}

static void nothing(long n) { (void)n; }

int main(int argc, char **argv) {
  const struct { const char *name; void (*of)(long); } all[] = {
    {"calls", calls}, {"napping", napping}, {"recursion", recursion}, {"tail", tail}, {"jumping", jumping},
    {"hiding", hiding},
    {"arguments", arguments}, {"system-calls", system_calls}, {"library", library}, {"threads", threads},
    {"waiting", waiting},
    {"forks", forks}, {"executes", executes}, {"dies", dies}, {"loads", loads}, {"fast", fast},
    {"allocates", allocates}, {"nothing", nothing},
  };
  const char *what = argc > 1 ? argv[1] : "nothing";
  int is_on_command = argc < 4 || strcmp(argv[3], "at-once") != 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strcmp(all[i].name, what) != 0) continue;
    char line[8];
    if (is_on_command) {
      puts("ready");
      fflush(stdout);
      if (!fgets(line, sizeof line, stdin)) return 1;
    }
    all[i].of(argc > 2 ? atol(argv[2]) : 10);
    if (is_on_command) {
      puts("done");
      fflush(stdout);
      while (fgets(line, sizeof line, stdin)) {}
    }
    return 0;
  }
  return 2;
}
