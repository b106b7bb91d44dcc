/* Exports in pieces of 1 MB, without a sync, over the same 256 MB again and again. */
#include "run.h"

int main(int argc, char **argv)
{
	static char piece[1 << 20];
	char path[4096];

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/export", argv[2]);
	int file = open(path, O_CREAT | O_WRONLY, 0644);
	must(file >= 0, path);
	ready();
	for (long i = 0; going(); i++) {
		memset(piece, 'a' + i % 26, sizeof piece);
		must(pwrite(file, piece, sizeof piece, i % 256 << 20) == sizeof piece, "pwrite");
		done(1);
	}
	return finish();
}
