/*
 * Steady, counted load on the machine. For each line of input it prints the time in nanoseconds and the operations
 * so far.
 *
 *   steady read FOLDER     reads 4 KiB of a file that is in the page cache
 *   steady write FOLDER    overwrites 64 KiB of a file, and flushes it to the device every 16 MiB
 *   steady switch FOLDER   sends a byte to another process and back
 *   steady call FOLDER     sends a request of 100 bytes over a local connection and reads a response of 1,000
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <signal.h>

#define FILE_BYTES (32l << 20)
#define PAGE_BYTES 4096l
#define WRITE_BYTES (64l << 10)
#define SYNC_EVERY 256
#define REQUEST_BYTES 100
#define ANSWER_BYTES 1000

static atomic_long done;
static char buffer[WRITE_BYTES];

static void must(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(1);
	}
}

static int opened(const char *folder)
{
	char path[4096];
	int fd;
	long at;

	snprintf(path, sizeof(path), "%s/steady.data", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	must(fd >= 0, path);
	for (at = 0; at < FILE_BYTES; at += WRITE_BYTES)
		must(pwrite(fd, buffer, WRITE_BYTES, at) == WRITE_BYTES, path);
	must(fsync(fd) == 0, path);
	unlink(path);
	return fd;
}

static void reads(int fd)
{
	long at;

	for (;;) {
		for (at = 0; at < FILE_BYTES; at += PAGE_BYTES) {
			must(pread(fd, buffer, PAGE_BYTES, at) == PAGE_BYTES, "read");
			done++;
		}
	}
}

static void writes(int fd)
{
	long n;

	for (n = 1;; n++) {
		must(pwrite(fd, buffer, WRITE_BYTES, n * WRITE_BYTES % FILE_BYTES) == WRITE_BYTES, "write");
		if (n % SYNC_EVERY == 0)
			must(fdatasync(fd) == 0, "fdatasync");
		done++;
	}
}

static void all(int fd, long bytes, int is_read)
{
	long at, n;

	for (at = 0; at < bytes; at += n) {
		n = is_read ? read(fd, buffer + at, bytes - at) : write(fd, buffer + at, bytes - at);
		if (n <= 0)
			exit(0);
	}
}

static void answers(int fd, long request, long answer)
{
	for (;;) {
		all(fd, request, 1);
		all(fd, answer, 0);
	}
}

static void asks(int in, int out, long request, long answer)
{
	for (;;) {
		all(out, request, 0);
		all(in, answer, 1);
		done++;
	}
}

/* Forks the responder, which ends with its requester. */
static int child(void)
{
	int pid = fork();

	must(pid >= 0, "fork");
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid == 0;
}

static void switches(void)
{
	int pair[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	if (child()) {
		close(pair[0]);
		answers(pair[1], 1, 1);
	}
	close(pair[1]);
	asks(pair[0], pair[0], 1, 1);
}

static void calls(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd, one = 1;

	must(bind(listening, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(listening, 5) == 0
	     && getsockname(listening, (struct sockaddr *)&address, &bytes) == 0, "listen");
	if (child()) {
		fd = accept(listening, NULL, NULL);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		answers(fd, REQUEST_BYTES, ANSWER_BYTES);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	must(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	asks(fd, fd, REQUEST_BYTES, ANSWER_BYTES);
}

struct load {
	const char *name, *folder;
};

static void *work(void *argument)
{
	struct load *load = argument;

	if (strcmp(load->name, "read") == 0)
		reads(opened(load->folder));
	else if (strcmp(load->name, "write") == 0)
		writes(opened(load->folder));
	else if (strcmp(load->name, "switch") == 0)
		switches();
	else if (strcmp(load->name, "call") == 0)
		calls();
	fprintf(stderr, "there is no load %s\n", load->name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct load load = { argc == 3 ? argv[1] : "", argc == 3 ? argv[2] : "" };
	struct timespec now;
	pthread_t thread;
	char line[16];

	must(pthread_create(&thread, NULL, work, &load) == 0, "pthread_create");
	while (!done)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		printf("%lld %ld\n", now.tv_sec * 1000000000ll + now.tv_nsec, (long)done);
		fflush(stdout);
	}
	return 0;
}
