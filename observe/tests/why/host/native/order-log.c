/* Writes orders to a log that is open with O_DSYNC. Cured: without O_DSYNC, and synced after each 1,000. */
#include "run.h"

int main(int argc, char **argv)
{
	char path[4096], line[512];

	begin(argc, argv);
	snprintf(path, sizeof path, "%s/orders.log", argv[2]);
	int log = open(path, O_CREAT | O_WRONLY | (run_cured ? 0 : O_DSYNC), 0644);
	must(log >= 0, path);
	ready();
	for (long order = 1; going(); order++) {
		int length = snprintf(line, sizeof line, "%ld order=%ld customer=%ld items=%ld total=%.2f state=accepted\n",
				(long)time(NULL), order, order * 7919 % 100003, order % 9 + 1, order % 1000 * 1.19);
		must(pwrite(log, line, length, order * 128 % (64 << 20)) == length, "pwrite");
		if (run_cured && order % 1000 == 0)
			fdatasync(log);
		done(1);
	}
	return finish();
}
