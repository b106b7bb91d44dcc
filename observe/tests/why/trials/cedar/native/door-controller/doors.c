#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { DOORS = 24 };

struct door {
    long opened, close_at;
    int open;
};

static struct door doors[DOORS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *supervise(void *unused)
{
    for (;;) {
        sleep(2);
        pthread_mutex_lock(&lock);
        for (int i = 0; i < DOORS; i++)
            if (doors[i].open && now() - doors[i].opened > 60000)
                fprintf(stderr, "door %d stands open\n", i);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    int e = epoll_create1(0);
    long ticks = 0;
    pthread_t t;

    for (int i = 0; i < 4; i++) {
        int fd = timerfd_create(CLOCK_MONOTONIC, 0);
        struct itimerspec every = {{0, 200000000}, {0, 50000000 * (i + 1) - 1}};
        struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
        timerfd_settime(fd, 0, &every, NULL);
        epoll_ctl(e, EPOLL_CTL_ADD, fd, &ev);
    }
    pthread_create(&t, NULL, supervise, NULL);
    puts("ready");
    for (;;) {
        struct epoll_event got[8];
        int n = epoll_wait(e, got, 8, -1);
        for (int i = 0; i < n; i++) {
            uint64_t times;
            if (read(got[i].data.fd, &times, sizeof times) != sizeof times)
                continue;
            pthread_mutex_lock(&lock);
            for (int d = 0; d < DOORS; d++)
                if (doors[d].open && doors[d].close_at < now())
                    doors[d].open = 0;
            pthread_mutex_unlock(&lock);
            if (++ticks % 10 == 0) {
                printf("total %ld\n", ticks);
                fflush(stdout);
            }
        }
    }
}
