/* map-lookup: profiles of heights along hiking trails, from a file of heights that is mapped into memory. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const int16_t *height;
static size_t cells;
static atomic_long profiles;

static double profile(unsigned *seed) {
    double climb = 0;
    int last = 0;
    for (int i = 0; i < 64; i++) {
        size_t at = ((size_t)rand_r(seed) * 32768u + (size_t)rand_r(seed)) % cells;
        int h = height[at];
        if (h > last) climb += sqrt(h - last);
        last = h;
    }
    return climb;
}

static void *walker(void *arg) {
    unsigned seed = (unsigned)(uintptr_t)arg;
    volatile double sum = 0;
    for (;;) {
        sum += profile(&seed);
        profiles++;
    }
    return NULL;
}

int main(int c, char **v) {
    int fd = open(v[1], O_RDONLY);
    struct stat st;
    fstat(fd, &st);
    cells = st.st_size / sizeof *height;
    height = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    long sum = 0;
    for (size_t i = 0; i < cells; i += 2048) sum += height[i];          /* read it once */
    madvise((void *)height, st.st_size, MADV_RANDOM);
    for (uintptr_t i = 1; i <= 2; i++) {
        pthread_t t;
        pthread_create(&t, NULL, walker, (void *)i);
    }
    for (;;) {
        usleep(500000);
        printf("done %ld\n", profiles);
        fflush(stdout);
    }
    return (int)sum;
}
