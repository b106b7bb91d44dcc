/*
 * Four threads accept and answer, with an accept queue of one, as in textbook examples. Clients arrive at once.
 * Cured: 1024.
 */
#include "run.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

static int gate;

static void *keeper(void *number)
{
	char line[256];

	(void)number;
	while (going()) {
		struct pollfd p = { gate, POLLIN, 0 };
		if (poll(&p, 1, 100) <= 0)
			continue;
		int guest = accept4(gate, NULL, NULL, 0);
		if (guest < 0)
			continue;
		if (read(guest, line, sizeof line) > 0) {
			pause_for(0.002);
			done(write(guest, "ok\n", 3) == 3);
		}
		close(guest);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof at;

	begin(argc, argv);
	gate = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	must(!bind(gate, (struct sockaddr *)&at, sizeof at) && !listen(gate, run_cured ? 1024 : 1), "listen");
	must(!getsockname(gate, (struct sockaddr *)&at, &length), "getsockname");
	printf("listening %d\n", ntohs(at.sin_port));
	ready();
	threads(4, keeper);
	return finish();
}
