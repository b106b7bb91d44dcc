/* Common start and end of the programs: SECONDS and options on the command line, "ready", the operations at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double run_start, run_end;
static int run_cured;
static long run_operations;

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Arguments after SECONDS. "--cured" is the last one, if given. */
static inline void begin(int argc, char **argv)
{
	run_cured = argc > 2 && !strcmp(argv[argc - 1], "--cured");
	run_end = atof(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static inline void ready(void)
{
	run_start = now();
	run_end += run_start;
	puts("ready");
}

static inline int going(void)
{
	return now() < run_end;
}

static inline void done(long operations)
{
	__atomic_add_fetch(&run_operations, operations, __ATOMIC_RELAXED);
}

static inline int finish(void)
{
	printf("operations %ld in %.3f s\n", run_operations, now() - run_start);
	return 0;
}

static inline void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

static inline void pause_for(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
	nanosleep(&t, NULL);
}

static inline uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Runs `count` threads, each with its number, until all have ended. */
static inline void threads(int count, void *(*body)(void *))
{
	pthread_t all[64];
	for (long i = 0; i < count; i++)
		pthread_create(&all[i], NULL, body, (void *)i);
	for (int i = 0; i < count; i++)
		pthread_join(all[i], NULL);
}
