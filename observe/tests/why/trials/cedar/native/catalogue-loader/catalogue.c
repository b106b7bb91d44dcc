#include "catalogue.h"

#include <stdio.h>
#include <string.h>

volatile long rows_loaded;

struct part *find(struct catalogue *c, int number)
{
    size_t i = (unsigned)number * 2654435761u % c->size;

    while (c->slots[i].number && c->slots[i].number != number)
        i = (i + 1) % c->size;
    return &c->slots[i];
}

static int parse(const char *text, struct part *p, int *length)
{
    return sscanf(text, "%d;%31[^;];%lf\n%n", &p->number, p->name, &p->price, length);
}

/* Each row: NUMBER;NAME;PRICE */
int load(struct catalogue *c, const char *text, int row_buffer)
{
    int rows = 0;

    memset(c->slots, 0, c->size * sizeof *c->slots);
    c->used = 0;
    while (*text) {
        struct part p;
        int length = 0, got;
        if (row_buffer) {
            char row[128];
            const char *end = strchr(text, '\n');
            size_t n = (size_t)(end - text) + 1;
            memcpy(row, text, n);
            row[n] = 0;
            got = parse(row, &p, &length);
        } else {
            got = parse(text, &p, &length);
        }
        if (got != 3 || !length)
            return -1;
        struct part *slot = find(c, p.number);
        if (!slot->number)
            c->used++;
        *slot = p;
        text += length;
        rows++;
        rows_loaded++;
    }
    return rows;
}
