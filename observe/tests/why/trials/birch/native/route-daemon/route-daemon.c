/* route-daemon: answers routers' questions for the way to an address from a table in a file. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct route {
    uint32_t net, via;
    int metric;
};

static struct route *routes;
static int count;
static volatile sig_atomic_t changed;

static void on_hup(int s) { changed = 1; }

static int order(const void *a, const void *b) {
    uint32_t x = ((const struct route *)a)->net, y = ((const struct route *)b)->net;
    return x < y ? -1 : x > y;
}

static void load_table(const char *name) {
    FILE *f = fopen(name, "r");
    char line[200], net[40], via[40];
    int n = 0, room = 1024, metric;
    struct route *r = malloc(room * sizeof *r);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%39[0-9.]/24 via %39s metric %d", net, via, &metric) != 3) continue;
        if (n == room) r = realloc(r, (room *= 2) * sizeof *r);
        r[n++] = (struct route){ntohl(inet_addr(net)), ntohl(inet_addr(via)), metric};
    }
    fclose(f);
    qsort(r, n, sizeof *r, order);
    free(routes);
    routes = r;
    count = n;
}

static struct route *lookup(uint32_t ip) {
    struct route key = {ip & 0xffffff00u, 0, 0};
    return bsearch(&key, routes, count, sizeof key, order);
}

int main(int c, char **v) {
    struct sigaction sa = {.sa_handler = on_hup};
    sigaction(SIGHUP, &sa, NULL);
    load_table(v[2]);
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(v[1])),
                            .sin_addr = {htonl(INADDR_LOOPBACK)}}, from;
    if (bind(s, (struct sockaddr *)&a, sizeof a)) return perror("bind"), 1;
    for (;;) {
        char q[100], answer[100];
        if (changed) {
            changed = 0;
            load_table(v[2]);
        }
        socklen_t len = sizeof from;
        ssize_t n = recvfrom(s, q, sizeof q - 1, 0, (struct sockaddr *)&from, &len);
        if (n < 0) {
            if (errno == EINTR) continue;
            return 1;
        }
        q[n] = 0;
        struct route *r = lookup(ntohl(inet_addr(q)));
        n = r ? snprintf(answer, sizeof answer, "%08x %d", r->via, r->metric) : snprintf(answer, sizeof answer, "none");
        sendto(s, answer, n, 0, (struct sockaddr *)&from, len);
    }
}
