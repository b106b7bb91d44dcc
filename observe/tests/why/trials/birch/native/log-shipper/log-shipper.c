/* log-shipper: two appenders write log lines into spool files, a shipper reads and checks them. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 1 << 20 };

static atomic_long shipped;
static char name[300];

static uint32_t checksum(const char *p, size_t n) {
    uint32_t h = 2166136261u;
    while (n--) h = (h ^ (uint8_t)*p++) * 16777619u;
    return h;
}

static void *ship(void *arg) {
    char spool[320], line[400], back[400];
    snprintf(spool, sizeof spool, "%s.%d", name, (int)(intptr_t)arg);
    int fd = open(spool, O_RDWR | O_CREAT | O_TRUNC, 0600);
    off_t at = 0;
    for (unsigned n = 0;; n++) {
        int len = snprintf(line, sizeof line,
                           "%08u host-%03u kernel: device eth%u link is up at %u Mbit/s, flow control %s", n,
                           n % 211, n % 4, 100u << n % 4, n % 3 ? "rx" : "off");
        while (len < 350) line[len++] = '.';
        line[len++] = '\n';
        if (pwrite(fd, line, len, at) != len) return NULL;
        struct stat st;
        fstat(fd, &st);
        if (pread(fd, back, len, at) != len || checksum(back, len) != checksum(line, len)) return NULL;
        at += len;
        if (st.st_size > LIMIT) at = 0, (void)!ftruncate(fd, 0);
        shipped++;
    }
}

int main(int c, char **v) {
    strncpy(name, v[1], sizeof name - 1);
    for (intptr_t i = 0; i < 2; i++) {
        pthread_t t;
        pthread_create(&t, NULL, ship, (void *)i);
    }
    for (;;) {
        usleep(500000);
        printf("done %ld\n", shipped);
        fflush(stdout);
    }
}
