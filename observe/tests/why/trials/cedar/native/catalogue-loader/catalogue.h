#ifndef CATALOGUE_H
#define CATALOGUE_H

#include <stddef.h>

struct part {
    int number;
    double price;
    char name[32];
};

struct catalogue {
    struct part *slots;
    size_t size, used;
};

extern volatile long rows_loaded;

int load(struct catalogue *c, const char *text, int row_buffer);
struct part *find(struct catalogue *c, int number);

#endif
