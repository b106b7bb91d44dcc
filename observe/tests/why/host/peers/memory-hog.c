/* Allocates MB of memory and reads it again and again: SECONDS MB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t bytes = (size_t)atol(argv[2]) << 20;
	char *memory = argc > 2 ? malloc(bytes) : NULL;
	time_t end = time(NULL) + atol(argv[1]);

	for (int round = 1; memory && time(NULL) < end; round++) {
		for (size_t at = 0; at < bytes; at += 4096)
			memory[at] = round;
		if (round == 1) {
			puts("ready");
			fflush(stdout);
		}
		usleep(500000);
	}
	return 0;
}
