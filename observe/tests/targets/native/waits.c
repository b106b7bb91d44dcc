/* Threads that run, sleep for moments, wait for a lock, and wait for ever; and one that half runs, half sleeps. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long spun;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* A name that also mangles a type in C++. */
__attribute__((noinline)) void d(void)
{
	for (;;)
		spun++;
}

__attribute__((noinline)) void sleeps_for_moments(void)
{
	for (;;) {
		usleep(1000);
		__asm__ volatile("");
	}
}

__attribute__((noinline)) void waits_for_a_lock(void)
{
	pthread_mutex_lock(&mutex);
	abort();
}

__attribute__((noinline)) void waits_for_ever(void)
{
	for (;;) {
		poll(NULL, 0, 1000000);
		__asm__ volatile("");
	}
}

__attribute__((noinline)) void runs_half(void)
{
	double end = now() + 0.03;

	while (now() < end)
		spun++;
}

__attribute__((noinline)) void sleeps_half(void)
{
	usleep(30000);
	__asm__ volatile("");
}

static void *thread(void *number)
{
	switch ((long)number) {
	case 0:
		d();
	case 1:
		sleeps_for_moments();
	case 2:
		waits_for_a_lock();
	case 3:
		waits_for_ever();
	default:
		for (;;) {
			runs_half();
			sleeps_half();
		}
	}
	return NULL;
}

/* waits SECONDS [MANY threads that wait for ever] */
int main(int count, char **words)
{
	pthread_t threads;
	long number, many = count > 2 ? atol(words[2]) : 0;

	pthread_mutex_lock(&mutex);
	for (number = 0; number < 5 + many; number++)
		if (pthread_create(&threads, NULL, thread, (void *)(number < 5 ? number : 3)))
			return 1;
	puts("ready");
	fflush(stdout);
	sleep((unsigned)atoi(words[1]));
	return 0;
}
