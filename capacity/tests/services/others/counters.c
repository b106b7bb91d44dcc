/*
 * Counter service in C: a thread a connection. A request asks another service, signs, and counts under a mutex.
 *
 *     counters --port N --threads N --sign N --table N --sources PORT
 *     counters --calibrate
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TABLE = 4096, MESSAGE_MAX = 4096 };

static int port, sources, sign_rounds, table_rounds;
static uint64_t table[TABLE];
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Returns a signature: FNV-1a over `rounds` blocks of 1 KiB. */
static uint64_t sign(int rounds, uint64_t seed)
{
    uint64_t hash = 1469598103934665603ULL ^ seed;
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < 1024; k++)
            hash = (hash ^ (uint64_t)(k & 255)) * 1099511628211ULL;
    return hash;
}

static uint64_t count(uint64_t key)
{
    pthread_mutex_lock(&table_mutex);
    uint64_t hash = sign(table_rounds, key);
    uint64_t total = ++table[hash % TABLE];
    pthread_mutex_unlock(&table_mutex);
    return total;
}

static int connect_source(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)sources)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("counters: connect");
        close(fd);
        return -1;
    }
    return fd;
}

/* Reads until the end of a header and of the bytes that it announces; returns the length, 0 at the end. */
static size_t read_message(int fd, char *message)
{
    size_t length = 0;
    while (length < MESSAGE_MAX - 1) {
        ssize_t n = recv(fd, message + length, MESSAGE_MAX - 1 - length, 0);
        if (n <= 0)
            return 0;
        length += (size_t)n;
        message[length] = 0;
        char *end = strstr(message, "\r\n\r\n");
        if (!end)
            continue;
        char *field = strcasestr(message, "Content-Length:");
        size_t body = field ? strtoul(field + 15, NULL, 10) : 0;
        if (length >= (size_t)(end + 4 - message) + body)
            return length;
    }
    return 0;
}

static void *serve(void *argument)
{
    int fd = (int)(intptr_t)argument;
    int source = connect_source();
    char message[MESSAGE_MAX], answer[256], body[64];
    static const char ask[] = "GET /source HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    while (source >= 0 && read_message(fd, message)) {
        if (send(source, ask, sizeof ask - 1, MSG_NOSIGNAL) < 0 || !read_message(source, message))
            break;
        uint64_t total = count(sign(sign_rounds, (uint64_t)message[0]));
        int n = snprintf(body, sizeof body, "count %lu", (unsigned long)total);
        n = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", n, body);
        if (send(fd, answer, (size_t)n, MSG_NOSIGNAL) < 0)
            break;
    }
    if (source >= 0)
        close(source);
    close(fd);
    return NULL;
}

static void calibrate(void)
{
    double best = 0;
    uint64_t used = 0;
    for (int i = 0; i < 300; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        used += sign(500, (uint64_t)i);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
        if (500 / ms > best)
            best = 500 / ms;
    }
    printf("{\"c.sign\": %.3f}\n", best);
    if (used == 42)
        puts("42");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0) {
        calibrate();
        return 0;
    }
    for (int i = 1; i + 1 < argc; i += 2) {
        int value = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--port") == 0)
            port = value;
        else if (strcmp(argv[i], "--sources") == 0)
            sources = value;
        else if (strcmp(argv[i], "--sign") == 0)
            sign_rounds = value;
        else if (strcmp(argv[i], "--table") == 0)
            table_rounds = value;
    }
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1024) != 0) {
        perror("counters: bind");
        return 1;
    }
    printf("ready %d\n", port);
    fflush(stdout);
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) != 0)
            close(fd);
        else
            pthread_detach(thread);
    }
}
