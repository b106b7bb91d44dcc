/* invoice-merge: merges the sorted invoice files of two branches and totals them by customer, over and over. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct invoice {
    uint32_t number, customer;
    uint64_t cents;
};

struct source {
    int fd, buffered;
    size_t at, have;
    char buf[65536];
};

static uint64_t total[1024];

static int get(struct source *s, void *to, size_t n) {
    if (!s->buffered) return read(s->fd, to, n) == (ssize_t)n;
    if (s->at == s->have) {
        ssize_t r = read(s->fd, s->buf, sizeof s->buf);
        if (r <= 0) return 0;
        s->have = (size_t)r;
        s->at = 0;
    }
    memcpy(to, s->buf + s->at, n);
    s->at += n;
    return 1;
}

static int next(struct source *s, struct invoice *i) {
    return get(s, &i->number, 4) && get(s, &i->customer, 4) && get(s, &i->cents, 8);
}

static long merge(struct source *a, struct source *b) {
    struct invoice x, y;
    long n = 0;
    int ha = next(a, &x), hb = next(b, &y);
    while (ha || hb) {
        int first = ha && (!hb || x.number < y.number);
        struct invoice *i = first ? &x : &y;
        total[i->customer & 1023] += i->cents;
        n++;
        if (first) ha = next(a, &x);
        else hb = next(b, &y);
    }
    return n;
}

int main(int c, char **v) {
    static struct source a, b;
    long done = 0;
    time_t last = time(NULL);
    a.buffered = b.buffered = *v[3] == '1';
    a.fd = open(v[1], O_RDONLY);
    b.fd = open(v[2], O_RDONLY);
    for (;;) {
        lseek(a.fd, 0, SEEK_SET);
        lseek(b.fd, 0, SEEK_SET);
        done += merge(&a, &b);
        if (time(NULL) != last) {
            last = time(NULL);
            printf("done %ld\n", done);
            fflush(stdout);
        }
    }
}
