/*
 * Reads a column from beginning to end in pieces of 64 KB, sums it up, and begins again with a cold cache. With
 * "random",
 * it advises the kernel of random reads, although they are sequential. Cured: no such advice.
 */
#include "run.h"

int main(int argc, char **argv)
{
	static uint32_t piece[16384];
	char path[4096];
	uint64_t sum = 0;
	off_t at = 0;

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/data", argv[2]);
	int column = open(path, O_RDONLY);
	must(column >= 0, path);
	if (argc > 3 && !strcmp(argv[3], "random") && !run_cured)
		posix_fadvise(column, 0, 0, POSIX_FADV_RANDOM);
	ready();
	while (going()) {
		ssize_t length = pread(column, piece, sizeof piece, at);
		must(length >= 0, "pread");
		for (int i = 0; i < length / 4; i++)
			sum += piece[i];
		at += length;
		if (length == 0) {
			at = 0;
			posix_fadvise(column, 0, 0, POSIX_FADV_DONTNEED);
		}
		done(1);
	}
	return finish() + (sum == 1);
}
