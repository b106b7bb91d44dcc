#include "catalogue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 90000 };

static char *receive(int supplier)
{
    char *text = malloc(ROWS * 48), *p = text;

    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%d;gasket %d-%d;%d.%02d\n", i + 1 + supplier * 100000, supplier, i, i % 800, i % 100);
    return text;
}

static void *speak(void *unused)
{
    for (;;) {
        usleep(500000);
        printf("total %ld\n", rows_loaded);
        fflush(stdout);
    }
    return unused;
}

int main(int argc, char **argv)
{
    struct catalogue c = {calloc(1 << 18, sizeof(struct part)), 1 << 18, 0};
    pthread_t t;
    int row_buffer = argc > 1 && !strcmp(argv[1], "row");

    pthread_create(&t, NULL, speak, NULL);
    puts("ready");
    fflush(stdout);
    for (int supplier = 0;; supplier = (supplier + 1) % 40) {
        char *text = receive(supplier);
        if (load(&c, text, row_buffer) != ROWS || find(&c, supplier * 100000 + 1)->price < 0)
            return 1;
        free(text);
    }
}
