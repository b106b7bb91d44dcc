/* A queue of messages in a mapped file, by two threads, with an msync after each message. Cured: after each 200th. */
#include "run.h"

enum { MESSAGE = 512, SLOTS = 32768 };
static char *queue;

static void *producer(void *number)
{
	long at = (long)number * (SLOTS / 2);

	for (long sent = 1; going(); sent++, at++) {
		char *slot = queue + at % SLOTS * MESSAGE;
		memset(slot, 'a' + sent % 26, MESSAGE);
		snprintf(slot, 64, "message %ld of producer %ld", sent, (long)number);
		if (sent % (run_cured ? 200 : 1) == 0)
			must(!msync((void *)((uintptr_t)slot & ~4095UL), 4096, MS_SYNC), "msync");
		done(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096];

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/queue", argv[2]);
	int file = open(path, O_CREAT | O_RDWR, 0644);
	must(file >= 0 && !posix_fallocate(file, 0, MESSAGE * SLOTS), path);
	queue = mmap(NULL, MESSAGE * SLOTS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	must(queue != MAP_FAILED, "mmap");
	ready();
	threads(2, producer);
	return finish();
}
