/* frame-stitch: stitches the pictures of neighbouring cameras to panoramas. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { W = 1280, H = 720, LAYERS = 3 };

static atomic_long stitched;

struct layer {
    uint8_t *px;
};

static struct layer *capture(unsigned seed) {
    struct layer *l = malloc(sizeof *l);
    l->px = malloc(W * H);
    for (int y = 0; y < H; y++) memset(l->px + y * W, (int)(seed + y), W);
    return l;
}

static uint64_t blend(const struct layer *a, const struct layer *b) {
    uint8_t *out = malloc(2 * W * H);
    for (int y = 0; y < H; y++) {
        memcpy(out + y * 2 * W, a->px + y * W, W);
        memcpy(out + y * 2 * W + W, b->px + y * W, W);
    }
    uint64_t s = 0;
    for (int i = 0; i < 2 * W * H; i += 509) s = s * 31 + out[i];
    free(out);
    return s;
}

static void *rig(void *arg) {
    unsigned n = (unsigned)(uintptr_t)arg;
    uint64_t check = 0;
    for (;;) {
        struct layer *l[LAYERS];
        for (int i = 0; i < LAYERS; i++) l[i] = capture(n++);
        for (int i = 1; i < LAYERS; i++) check ^= blend(l[i - 1], l[i]);
        for (int i = 0; i < LAYERS; i++) {
            free(l[i]->px);
            free(l[i]);
        }
        if (check == 42) puts("odd");
        stitched++;
    }
    return NULL;
}

int main(int c, char **v) {
    /* give big pictures back to the system from this size on */
    mallopt(M_MMAP_THRESHOLD, atoi(v[1]) > (32 << 20) ? 32 << 20 : atoi(v[1]));
    if (atoi(v[1]) > (32 << 20)) mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_ARENA_MAX, 1);
    pthread_t t;
    pthread_create(&t, NULL, rig, (void *)1);
    for (;;) {
        usleep(500000);
        printf("done %ld\n", stitched);
        fflush(stdout);
    }
}
