/* Reads prices from a file that would fit into the cache: three threads, random reads of 4 KB. */
#include "run.h"

static int prices;
static long blocks;

static void *asker(void *number)
{
	char block[4096];
	uint64_t state = 88172645463325252ULL + (uint64_t)number * 7919;

	while (going()) {
		must(pread(prices, block, sizeof block, random_of(&state) % blocks * 4096) == 4096, "pread");
		done(block[17] != 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096];
	static char piece[1 << 20];
	struct stat s;

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/data", argv[2]);
	prices = open(path, O_RDONLY);
	must(prices >= 0 && !fstat(prices, &s), path);
	blocks = s.st_size / 4096;
	for (off_t at = 0; at < s.st_size; at += sizeof piece)
		must(pread(prices, piece, sizeof piece, at) > 0, "pread");
	posix_fadvise(prices, 0, 0, POSIX_FADV_RANDOM);
	ready();
	threads(3, asker);
	return finish();
}
