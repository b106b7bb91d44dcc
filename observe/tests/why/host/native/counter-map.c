/* Counts in a mapped file of 256 MB, at random places, by two threads. */
#include "run.h"

enum { BYTES = 256 << 20 };
static uint32_t *counters;

static void *counter(void *number)
{
	uint64_t state = 88172645463325252ULL + (uint64_t)number * 7919;

	while (going()) {
		for (int i = 0; i < 16; i++)
			counters[random_of(&state) % (BYTES / 4)]++;
		done(16);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096];

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/data", argv[2]);
	int file = open(path, O_RDWR);
	must(file >= 0, path);
	counters = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
	must(counters != MAP_FAILED, "mmap");
	ready();
	threads(2, counter);
	return finish();
}
