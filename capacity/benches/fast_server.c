/* A server of HTTP/1.1 that costs as little as epoll allows, to load by clients that are compared.
 *
 *   fast_server PORT [BODY_BYTES]
 *
 * One thread. Each piece of a request that ends with an empty line gets the same answer; requests have no bodies. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 512, REQUEST_BYTES = 16384 };

int main(int argc, char **argv) {
    int body = argc > 2 ? atoi(argv[2]) : 100, one = 1;
    if (argc < 2 || body < 0 || body > 10000000) return 2;
    char *answer = malloc(body + 200);
    int length = sprintf(answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: text/plain\r\n\r\n", body);
    memset(answer + length, 'x', body);
    length += body;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) {
        perror("bind");
        return 3;
    }
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[EVENTS];
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                int client;
                while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    struct epoll_event of_client = {.events = EPOLLIN, .data.fd = client};
                    epoll_ctl(poll, EPOLL_CTL_ADD, client, &of_client);
                }
                continue;
            }
            char request[REQUEST_BYTES];
            ssize_t n = read(fd, request, sizeof request);
            if (n <= 0) {
                close(fd);
            } else if (n >= 4 && !memcmp(request + n - 4, "\r\n\r\n", 4)) {
                int sent = 0;
                while (sent < length) {
                    ssize_t part = write(fd, answer + sent, length - sent);
                    if (part > 0) sent += part;
                    else usleep(100);
                }
            }
        }
    }
}
