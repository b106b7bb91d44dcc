/* Computes for a second and a half, then writes 20 MB in one piece and syncs once. Nothing is wrong. */
#include "run.h"

static uint32_t rows[5 << 20];

static __attribute__((noinline)) uint32_t parsed(uint32_t i) { return i * 2654435761U ^ i >> 7; }
static __attribute__((noinline)) uint32_t priced(uint32_t v) { for (int k = 0; k < 12; k++) v = v * 31 + (v >> 11);
    return v; }
static __attribute__((noinline)) uint32_t checked(uint32_t v) { for (int k = 0; k < 5; k++) v ^= v << 5 ^ v >> 3;
    return v; }

int main(int argc, char **argv)
{
	char path[4096];

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/batch", argv[2]);
	int file = open(path, O_CREAT | O_WRONLY, 0644);
	must(file >= 0, path);
	ready();
	while (going()) {
		double until = now() + 1.5;
		for (uint32_t i = 0; now() < until;)
			for (int k = 0; k < 1000; k++, i++)
				rows[i % (5 << 20)] = checked(priced(parsed(i)));
		must(pwrite(file, rows, sizeof rows, 0) == sizeof rows, "pwrite");
		fdatasync(file);
		done(1);
	}
	return finish();
}
