#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 16000 };

static long orders;
static int last_price[26];

static int serve(int fd)
{
    char in[512], out[128];
    ssize_t n = recv(fd, in, sizeof in - 1, MSG_DONTWAIT);

    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    in[n] = 0;
    orders++;
    last_price[orders % 26] = (int)n;
    int m = snprintf(out, sizeof out, "done %ld %.20s", orders, in);
    return send(fd, out, (size_t)m, MSG_NOSIGNAL) == m ? 0 : -1;
}

static int listener(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 1024))
        exit(1);
    return fd;
}

static int accepted(int fd)
{
    int one = 1, c = accept(fd, NULL, NULL);

    setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return c;
}

static void loop_list(int lfd)
{
    static struct pollfd set[MOST];
    int n = 1;

    set[0] = (struct pollfd){lfd, POLLIN, 0};
    for (;;) {
        if (poll(set, (nfds_t)n, 1000) < 0)
            continue;
        for (int i = n - 1; i > 0; i--) {
            if (set[i].revents && serve(set[i].fd) < 0) {
                close(set[i].fd);
                set[i] = set[--n];
            }
        }
        if (set[0].revents && n < MOST)
            set[n++] = (struct pollfd){accepted(lfd), POLLIN, 0};
    }
}

static void loop_epoll(int lfd)
{
    int e = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = lfd}, got[64];

    epoll_ctl(e, EPOLL_CTL_ADD, lfd, &ev);
    for (;;) {
        int n = epoll_wait(e, got, 64, 1000);
        for (int i = 0; i < n; i++) {
            int fd = got[i].data.fd;
            if (fd == lfd) {
                ev.data.fd = accepted(lfd);
                epoll_ctl(e, EPOLL_CTL_ADD, ev.data.fd, &ev);
            } else if (serve(fd) < 0) {
                close(fd);
            }
        }
    }
}

int main(int argc, char **argv)
{
    int lfd = listener(atoi(argv[1]));

    if (argc > 2 && !strcmp(argv[2], "epoll"))
        loop_epoll(lfd);
    loop_list(lfd);
}
