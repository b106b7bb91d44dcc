/* Reads 2,000 random entries per second of a cached file, by four threads. Nothing is wrong. */
#include "run.h"

static int entries;
static long blocks;

static void *reader(void *number)
{
	char block[4096];
	uint64_t state = 88172645463325252ULL + (uint64_t)number * 7919;

	while (going()) {
		must(pread(entries, block, sizeof block, random_of(&state) % blocks * 4096) == 4096, "pread");
		done(1);
		pause_for(0.002);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char piece[1 << 20];
	char path[4096];

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/data", argv[2]);
	entries = open(path, O_RDONLY);
	must(entries >= 0, path);
	for (ssize_t length; (length = read(entries, piece, sizeof piece)) > 0; blocks += length / 4096)
		;
	ready();
	threads(4, reader);
	return finish();
}
