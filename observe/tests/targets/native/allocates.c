/* Known allocations: three quarters of the bytes by malloc, a quarter by calloc, and each other function once. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) void asks_for_three_quarters(void)
{
	for (int i = 0; i < 3000; i++) {
		kept = malloc(1000);
		free(kept);
	}
}

__attribute__((noinline)) void asks_for_a_quarter(void)
{
	for (int i = 0; i < 250; i++) {
		kept = calloc(40, 100);
		free(kept);
	}
}

/* 8 calls, 3,154,483 bytes. */
__attribute__((noinline)) void asks_in_other_ways(void)
{
	void *place = realloc(NULL, 1 << 20), *other = NULL;

	place = realloc(place, 2 << 20);
	free(place);
	if (posix_memalign(&other, 16, 5000))
		abort();
	free(other);
	kept = aligned_alloc(8, 3300);
	free(kept);
	kept = memalign(64, 33);
	free(kept);
	/* These call malloc and realloc. */
	kept = strdup("12345678901234567890");
	free(kept);
	kept = reallocarray(NULL, 10, 40);
	free(kept);
	kept = malloc(1);
	free(kept);
}

/* allocates TIMES: prints the number of calls and bytes. */
int main(int count, char **words)
{
	long times = count > 1 ? atol(words[1]) : 1;

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	for (long i = 0; i < times; i++) {
		asks_for_three_quarters();
		asks_for_a_quarter();
	}
	asks_in_other_ways();
	printf("%ld %ld\n", times * 3250 + 8, times * 4000000 + 3 * 1048576L + 5000 + 3300 + 33 + 21 + 400 + 1);
	return 0;
}
