/* quote-bus: quotes in shared memory: a publisher with several feeds, and an archiver that copies them away. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 4096 };

struct bus {
    pthread_mutex_t mutex;
    atomic_int ready;
    uint64_t published;
    struct {
        uint64_t sequence;
        double bid, ask;
    } slot[SLOTS];
};

static struct bus *bus;

static void *feed(void *arg) {
    unsigned seed = (unsigned)(uintptr_t)arg;
    double mid = 100;
    for (;;) {
        mid += (rand_r(&seed) % 201 - 100) * 1e-4;
        pthread_mutex_lock(&bus->mutex);
        uint64_t n = bus->published++;
        bus->slot[n % SLOTS].sequence = n;
        bus->slot[n % SLOTS].bid = mid - 0.01;
        bus->slot[n % SLOTS].ask = mid + 0.01;
        pthread_mutex_unlock(&bus->mutex);
        usleep(100);
    }
    return NULL;
}

static void archive(int pause) {
    FILE *out = fopen("/dev/null", "w");
    uint64_t next = 0;
    for (;;) {
        pthread_mutex_lock(&bus->mutex);
        uint64_t end = bus->published;
        if (end - next > SLOTS) next = end - SLOTS;
        for (; next < end; next++) fwrite(&bus->slot[next % SLOTS], sizeof bus->slot[0], 1, out);
        fflush(out);
        usleep(pause);                 /* the tape takes its time */
        pthread_mutex_unlock(&bus->mutex);
        usleep(300);
    }
}

int main(int c, char **v) {
    int fd = open(v[2], O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, sizeof *bus)) return 1;
    bus = mmap(NULL, sizeof *bus, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!strcmp(v[1], "archive")) archive(atoi(v[3]));
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&bus->mutex, &a);
    for (uintptr_t i = 1; i <= 3; i++) {
        pthread_t t;
        pthread_create(&t, NULL, feed, (void *)i);
    }
    for (;;) {
        usleep(500000);
        printf("done %lu\n", (unsigned long)bus->published);
        fflush(stdout);
    }
}
