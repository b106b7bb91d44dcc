/* tape-verify: reads a volume again past the page cache and compares the checksums of its blocks. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 128 * 1024, MAX = 65536 };

static const char *volume;
static uint32_t sums[MAX];
static atomic_long verified, damaged;

static uint32_t adler(const uint8_t *p, size_t n) {
    uint32_t a = 1, b = 0;
    while (n) {
        size_t part = n > 5552 ? 5552 : n;
        n -= part;
        while (part--) a += *p++, b += a;
        a %= 65521;
        b %= 65521;
    }
    return b << 16 | a;
}

static void *verify(void *arg) {
    int drive = (int)(intptr_t)arg;
    void *buf;
    if (posix_memalign(&buf, 4096, BLOCK)) return NULL;
    int fd = open(volume, O_RDONLY | O_DIRECT);
    if (fd < 0) perror(volume), exit(1);
    long blocks = lseek(fd, 0, SEEK_END) / BLOCK;
    for (long n = drive;; n = (n + 2) % blocks) {
        ssize_t r = pread(fd, buf, BLOCK, (off_t)n * BLOCK);
        if (r != BLOCK) {
            fprintf(stderr, "block %ld: %s\n", n, strerror(errno));
            exit(1);
        }
        uint32_t s = adler(buf, BLOCK);
        if (sums[n % MAX] && sums[n % MAX] != s) damaged++;
        sums[n % MAX] = s;
        verified++;
    }
}

int main(int c, char **v) {
    volume = v[1];
    for (intptr_t i = 0; i < 2; i++) {
        pthread_t t;
        pthread_create(&t, NULL, verify, (void *)i);
    }
    for (;;) {
        usleep(500000);
        printf("done %ld\n", verified);
        fflush(stdout);
    }
}
