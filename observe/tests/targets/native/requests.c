/* Handles a number of requests for a cause, both read from its input. Every fiftieth request is slow for that cause. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone, externally_visible))
#define SLOW_US 40000
#define MAP_BYTES (32 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wanted[2], taken[2], asked[2], answered[2], file;
static volatile unsigned long sink;

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

FUNCTION void spin(long us)
{
	for (long end = now_us() + us; now_us() < end;)
		for (int i = 0; i < 1000; i++)
			sink += sink * 31 + i;
}

static void word(int to)
{
	if (write(to, "", 1) != 1)
		abort();
}

static void hear(int from)
{
	char c;

	if (read(from, &c, 1) != 1)
		exit(0);
}

static void *hold(void *unused)
{
	for (;;) {
		hear(wanted[0]);
		pthread_mutex_lock(&lock);
		word(taken[1]);
		usleep(SLOW_US);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *answer(void *unused)
{
	for (;;) {
		hear(asked[0]);
		usleep(SLOW_US);
		word(answered[1]);
	}
	return unused;
}

FUNCTION void fast_path(void)
{
	spin(200);
	sink++;
}

FUNCTION void computes(void)
{
	spin(SLOW_US);
	sink++;
}

FUNCTION void waits_for_the_lock(void)
{
	word(wanted[1]);
	hear(taken[0]);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

FUNCTION void asks_the_other(void)
{
	word(asked[1]);
	hear(answered[0]);
	sink++;
}

FUNCTION void sleeps(void)
{
	usleep(SLOW_US);
	sink++;
}

FUNCTION void syncs_the_file(void)
{
	char page[4096] = { 0 };

	for (long end = now_us() + SLOW_US; now_us() < end;)
		if (pwrite(file, page, sizeof(page), 0) < 0 || fsync(file))
			abort();
}

FUNCTION void touches_fresh_pages(void)
{
	for (long end = now_us() + SLOW_US; now_us() < end;) {
		char *fresh = mmap(0, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(fresh, MAP_BYTES, MADV_NOHUGEPAGE);
		for (long at = 0; at < MAP_BYTES; at += 4096)
			fresh[at] = 1;
		munmap(fresh, MAP_BYTES);
	}
}

FUNCTION void request_begins(void)
{
	sink++;
}

FUNCTION void request_ends(void)
{
	sink++;
}

FUNCTION void handle(int number, const char *cause)
{
	static const struct {
		const char *cause;
		void (*is)(void);
	} causes[] = { { "cpu", computes },	      { "lock", waits_for_the_lock }, { "pipe", asks_the_other },
		       { "sleep", sleeps },	      { "file", syncs_the_file },     { "pages", touches_fresh_pages } };

	if (number % 50)
		fast_path();
	for (unsigned i = 0; number % 50 == 0 && i < sizeof(causes) / sizeof(*causes); i++)
		if (!strcmp(causes[i].cause, cause))
			causes[i].is();
	/* No tail call. */
	sink++;
}

int main(int argc, char **argv)
{
	char cause[32], name[4096];
	int requests;
	pthread_t thread;

	snprintf(name, sizeof(name), "%s/requests-XXXXXX", argc > 1 ? argv[1] : ".");
	file = mkstemp(name);
	unlink(name);
	if (file < 0 || pipe(wanted) || pipe(taken) || pipe(asked) || pipe(answered))
		return 1;
	pthread_create(&thread, 0, hold, 0);
	pthread_create(&thread, 0, answer, 0);
	puts("ready");
	fflush(stdout);
	while (scanf("%31s %d", cause, &requests) == 2) {
		for (int i = 1; i <= requests; i++) {
			request_begins();
			handle(i, cause);
			request_ends();
			spin(20);
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
