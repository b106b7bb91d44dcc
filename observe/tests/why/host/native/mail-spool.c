/*
 * Four threads receive mail: each writes a file, renames it into a folder, and deletes an old one. No sync. It waits
 * for
 * the file system's journal, which is small.
 */
#include "run.h"
#include <stdio.h>

enum { KEPT = 2000 };
static const char *spool;

static void *receiver(void *number)
{
	char temporary[4096], name[4096], old[4096], mail[1200];
	long me = (long)number;

	memset(mail, 'm', sizeof mail);
	for (long i = 0; going(); i++) {
		snprintf(temporary, sizeof temporary, "%s/tmp-%ld", spool, me);
		snprintf(name, sizeof name, "%s/box-%ld/%ld", spool, i % 40 * 4 + me, i);
		snprintf(old, sizeof old, "%s/box-%ld/%ld", spool, (i - KEPT) % 40 * 4 + me, i - KEPT);
		int file = open(temporary, O_CREAT | O_TRUNC | O_WRONLY, 0644);
		must(file >= 0 && write(file, mail, sizeof mail) == sizeof mail, temporary);
		close(file);
		must(!rename(temporary, name), name);
		if (i >= KEPT)
			must(!unlink(old), old);
		done(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char box[4096];

	begin(argc, argv);
	spool = argv[2];
	for (int i = 0; i < 160; i++) {
		snprintf(box, sizeof box, "%s/box-%d", spool, i);
		mkdir(box, 0755);
	}
	ready();
	threads(4, receiver);
	return finish();
}
