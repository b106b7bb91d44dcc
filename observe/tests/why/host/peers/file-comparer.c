/* Reads random pieces of a large file, each a few times, by four threads, and so fills the cache: SECONDS FOLDER. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int file;
static long pieces;
static time_t end;

static void *comparer(void *number)
{
	unsigned seed = 7 + (long)number;
	static __thread char piece[262144];

	while (time(NULL) < end) {
		off_t at = (off_t)(rand_r(&seed) % pieces) * sizeof piece;
		for (int i = 0; i < 3; i++)
			if (pread(file, piece, sizeof piece, at) < 0)
				return NULL;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096];
	struct stat s;
	pthread_t all[4];

	snprintf(path, sizeof path, "%s/other", argv[argc - 1]);
	file = open(path, O_RDONLY);
	if (file < 0 || fstat(file, &s))
		return 1;
	pieces = s.st_size / 262144;
	end = time(NULL) + atol(argv[1]);
	puts("ready");
	fflush(stdout);
	for (long i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, comparer, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	return 0;
}
