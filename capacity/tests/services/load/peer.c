/*
 * Stub of remote services: answers each HTTP request on a port after the delay of that port.
 *
 *     peer PORT=MICROSECONDS ...
 *
 * One thread with epoll and a timerfd, so that it uses next to no processor time. Requests of one port have the same
 * delay, so that a queue a port is in order of time. The program ends with its parent.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PORTS_MAX = 16, REQUEST_MAX = 4096, EVENTS_MAX = 256 };

static const char ANSWER[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 16\r\n\r\nanswer of a peer";

struct connection {
    int fd;
    int gone;
    int waits; /* a request is in the queue of the port */
    struct port *port;
    struct connection *next;
    int64_t due_ns;
    size_t length;
    char request[REQUEST_MAX];
};

struct port {
    int fd;
    int64_t delay_ns;
    struct connection *first, *last;
};

static struct port ports[PORTS_MAX];
static int port_count;
static int epoll_fd, timer_fd;

static void fail(const char *what)
{
    fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void watch(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("epoll_ctl");
}

static void listen_on(struct port *port, const char *option)
{
    char *rest;
    long number = strtol(option, &rest, 10);
    if (*rest != '=' || number <= 0 || number > 65535) {
        fprintf(stderr, "peer: expected PORT=MICROSECONDS, got %s\n", option);
        exit(2);
    }
    port->delay_ns = strtoll(rest + 1, NULL, 10) * 1000;
    port->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(port->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(port->fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(port->fd, 1024) != 0)
        fail(option);
    watch(port->fd, port);
}

static void set_timer(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < port_count; i++)
        if (ports[i].first && ports[i].first->due_ns < least)
            least = ports[i].first->due_ns;
    struct itimerspec when = {0};
    if (least != INT64_MAX) {
        when.it_value.tv_sec = least / 1000000000;
        when.it_value.tv_nsec = least % 1000000000;
    }
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void drop(struct connection *connection)
{
    close(connection->fd);
    connection->gone = 1;
    if (!connection->waits)
        free(connection);
}

static void answer_due(void)
{
    int64_t now = now_ns();
    for (int i = 0; i < port_count; i++) {
        struct port *port = &ports[i];
        while (port->first && port->first->due_ns <= now) {
            struct connection *connection = port->first;
            port->first = connection->next;
            connection->waits = 0;
            if (connection->gone)
                free(connection);
            else if (send(connection->fd, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL) < 0)
                drop(connection);
        }
    }
}

static void take(struct port *port)
{
    int fd;
    while ((fd = accept4(port->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection)
            fail("calloc");
        connection->fd = fd;
        connection->port = port;
        watch(fd, connection);
    }
}

static void read_request(struct connection *connection)
{
    ssize_t n = recv(connection->fd, connection->request + connection->length, REQUEST_MAX - connection->length, 0);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN)
            drop(connection);
        return;
    }
    connection->length += (size_t)n;
    if (!memmem(connection->request, connection->length, "\r\n\r\n", 4)) {
        if (connection->length == REQUEST_MAX)
            drop(connection);
        return;
    }
    connection->length = 0;
    if (connection->waits)
        return;
    struct port *port = connection->port;
    connection->due_ns = now_ns() + port->delay_ns;
    connection->waits = 1;
    connection->next = NULL;
    if (port->first)
        port->last->next = connection;
    else
        port->first = connection;
    port->last = connection;
}

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc < 2 || argc > PORTS_MAX + 1) {
        fprintf(stderr, "usage: peer PORT=MICROSECONDS ...\n");
        return 2;
    }
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (epoll_fd < 0 || timer_fd < 0)
        fail("epoll_create1");
    watch(timer_fd, &timer_fd);
    for (port_count = 0; port_count < argc - 1; port_count++)
        listen_on(&ports[port_count], argv[port_count + 1]);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int n = epoll_wait(epoll_fd, events, EVENTS_MAX, -1);
        for (int i = 0; i < n; i++) {
            void *what = events[i].data.ptr;
            uint64_t expirations;
            if (what == &timer_fd)
                (void)!read(timer_fd, &expirations, sizeof expirations);
            else if (what >= (void *)ports && what < (void *)(ports + PORTS_MAX))
                take(what);
            else
                read_request(what);
        }
        answer_due();
        set_timer();
    }
}
