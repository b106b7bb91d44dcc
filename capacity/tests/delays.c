/* A server of HTTP/1.1 whose delays are known, for clients that measure them.
 *
 *   delays PORT STALL_AT_MS STALL_MS DELAY_MS..
 *
 * Request n is answered after the (n modulo their number)th delay, each on its own: requests do not wait for one
 * another. STALL_AT_MS after the first request the whole server stands still for STALL_MS, as in a pause of a
 * collector: it reads nothing and answers nothing. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, WAITING = 65536 };

struct answer {
    int64_t at_ns;
    int fd;
};

static struct answer heap[WAITING];
static int waiting;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void swap(int a, int b) {
    struct answer one = heap[a];
    heap[a] = heap[b];
    heap[b] = one;
}

static void push(int64_t at_ns, int fd) {
    if (waiting == WAITING) exit(4);
    int n = waiting++;
    heap[n] = (struct answer){at_ns, fd};
    for (; n && heap[(n - 1) / 2].at_ns > heap[n].at_ns; n = (n - 1) / 2) swap(n, (n - 1) / 2);
}

static int pop(void) {
    int fd = heap[0].fd;
    heap[0] = heap[--waiting];
    for (int n = 0;;) {
        int least = n, left = 2 * n + 1;
        if (left < waiting && heap[left].at_ns < heap[least].at_ns) least = left;
        if (left + 1 < waiting && heap[left + 1].at_ns < heap[least].at_ns) least = left + 1;
        if (least == n) return fd;
        swap(n, least);
        n = least;
    }
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int64_t stall_at_ns = atoll(argv[2]) * 1000000LL, stall_ns = atoll(argv[3]) * 1000000LL, first_ns = 0;
    int delays = argc - 4, one = 1;
    int64_t requests = 0;
    prctl(PR_SET_TIMERSLACK, 1);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) {
        perror("bind");
        return 3;
    }
    int poll = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[EVENTS];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    event = (struct epoll_event){.events = EPOLLIN | EPOLLET, .data.fd = timer};
    epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);
    for (;;) {
        int64_t next_ns = waiting ? heap[0].at_ns : INT64_MAX;
        if (first_ns && stall_ns && first_ns + stall_at_ns < next_ns) next_ns = first_ns + stall_at_ns;
        if (next_ns < INT64_MAX) {
            struct itimerspec at = {.it_value = {next_ns / 1000000000LL, next_ns % 1000000000LL}};
            timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
        }
        int ready = epoll_wait(poll, events, EVENTS, -1);
        if (first_ns && stall_ns && now_ns() >= first_ns + stall_at_ns) {
            int64_t end_ns = first_ns + stall_at_ns + stall_ns;
            struct timespec until = {end_ns / 1000000000LL, end_ns % 1000000000LL};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
            stall_ns = 0;
        }
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == timer) continue;
            if (fd == listener) {
                int client;
                while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    struct epoll_event of_client = {.events = EPOLLIN, .data.fd = client};
                    epoll_ctl(poll, EPOLL_CTL_ADD, client, &of_client);
                }
                continue;
            }
            char request[8192];
            ssize_t n = read(fd, request, sizeof request);
            if (n <= 0) {
                close(fd);
            } else if (n >= 4 && !memcmp(request + n - 4, "\r\n\r\n", 4)) {
                int64_t now = now_ns();
                if (!first_ns) first_ns = now;
                push(now + atof(argv[4 + requests++ % delays]) * 1e6, fd);
            }
        }
        for (int64_t now = now_ns(); waiting && heap[0].at_ns <= now;) {
            static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            if (write(pop(), answer, sizeof answer - 1) < 0) continue;
        }
    }
}
