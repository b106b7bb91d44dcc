#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int run_filter(const char *program, const char *file, int ranged);

struct job {
    int number;
    char file[256];
    struct job *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER, gone = PTHREAD_COND_INITIALIZER;
static struct job *first, **last = &first;
static int waiting;
static long printed;
static int ranged;
static const char *filter;

static void *printer(void *name)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!first)
            pthread_cond_wait(&come, &lock);
        struct job *j = first;
        first = j->next;
        if (!first)
            last = &first;
        waiting--;
        pthread_cond_signal(&gone);
        pthread_mutex_unlock(&lock);
        if (run_filter(filter, j->file, ranged))
            fprintf(stderr, "job %d failed\n", j->number);
        __sync_fetch_and_add(&printed, 1);
        free(j);
    }
    return name;
}

static void *clients(void *dir)
{
    char file[256];

    snprintf(file, sizeof file, "%s/letter.ps", (char *)dir);
    FILE *f = fopen(file, "w");
    for (int i = 0; i < 400; i++)
        fprintf(f, "(line %d of the letter) show\n", i);
    fclose(f);
    for (int n = 1;; n++) {
        struct job *j = calloc(1, sizeof *j);
        j->number = n;
        strcpy(j->file, file);
        pthread_mutex_lock(&lock);
        while (waiting >= 20)
            pthread_cond_wait(&gone, &lock);
        *last = j;
        last = &j->next;
        waiting++;
        pthread_cond_signal(&come);
        pthread_mutex_unlock(&lock);
    }
    return dir;
}

int main(int argc, char **argv)
{
    pthread_t t;

    if (argc < 4)
        return 2;
    filter = argv[2];
    ranged = !strcmp(argv[3], "range");
    pthread_create(&t, NULL, clients, argv[1]);
    pthread_create(&t, NULL, printer, "tray 1");
    pthread_create(&t, NULL, printer, "tray 2");
    puts("ready");
    for (;;) {
        fflush(stdout);
        usleep(500000);
        printf("total %ld\n", printed);
    }
}
