/*
 * Probes a service by eight threads, one connection per probe, as fast as possible. Without a port, it retries after
 * 5 ms. Cured: persistent connections.
 */
#include "run.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static struct sockaddr_in service;

static void *prober(void *number)
{
	char answer[64];
	int s = -1;

	(void)number;
	while (going()) {
		if (s < 0) {
			s = socket(AF_INET, SOCK_STREAM, 0);
			if (connect(s, (struct sockaddr *)&service, sizeof service)) {
				close(s);
				s = -1;
				pause_for(0.005);
				continue;
			}
		}
		must(write(s, "up\n", 3) == 3, "write");
		done(read(s, answer, sizeof answer) > 0);
		if (!run_cured) {
			close(s);
			s = -1;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	service.sin_family = AF_INET;
	service.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	service.sin_port = htons(atoi(argv[2]));
	ready();
	threads(8, prober);
	return finish();
}
