// Answers for the height profile of routes, from a file of heights which is mapped into memory.
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIDE = 64, CELL = SIDE * SIDE, CELLS = 30000 };  // a cell: 64 x 64 heights, 8 KB

struct terrain {
    const int16_t *heights;
    size_t cells;
};

static atomic_long answered;

static int survey(const char *path) {
    FILE *f = fopen(path, "wb");
    int16_t cell[CELL];
    for (int c = 0; f && c < CELLS; c++) {
        for (int i = 0; i < CELL; i++) cell[i] = (int16_t)(800 + (c * 31 + i * 7) % 900);
        if (fwrite(cell, sizeof cell, 1, f) != 1) return 1;
    }
    return !f || fclose(f) != 0;
}

static struct terrain terrain_open(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st)) { perror(path); exit(1); }
    struct terrain t = {mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0), st.st_size / (CELL * 2)};
    if (t.heights == MAP_FAILED) { perror("mmap"); exit(1); }
    madvise((void *)t.heights, st.st_size, MADV_RANDOM);
    close(fd);
    return t;
}

static double climb_in_cell(const struct terrain *t, size_t cell) {
    const int16_t *h = t->heights + cell * CELL;
    double climb = 0;
    for (int i = 1; i < SIDE; i++) {
        int step = h[i * SIDE + i] - h[(i - 1) * SIDE + i - 1];
        if (step > 0) climb += sqrt(step * step + 25.0);
    }
    return climb;
}

static double profile(const struct terrain *t, unsigned *seed) {
    size_t cell = rand_r(seed) % t->cells;
    double climb = 0;
    for (int leg = 0; leg < 12; leg++) {
        climb += climb_in_cell(t, cell);
        cell = (cell + 171 + rand_r(seed) % 3) % t->cells;
    }
    return climb;
}

static void *surveyor(void *arg) {
    const struct terrain *t = arg;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    volatile double sum = 0;
    for (;;) {
        sum += profile(t, &seed);
        atomic_fetch_add_explicit(&answered, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--survey")) return survey(argv[2]);
    struct terrain t = terrain_open(argv[1]);
    pthread_t th[2];
    for (int i = 0; i < 2; i++) pthread_create(&th[i], NULL, surveyor, &t);
    for (;;) {
        usleep(200000);
        printf("answered %ld\n", atomic_load(&answered));
        fflush(stdout);
    }
}
