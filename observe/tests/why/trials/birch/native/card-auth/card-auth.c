/* card-auth: authorises card payments of terminals; each decision goes to the log daemon of the host. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int log_fd;

static void audit(const char *card, long cents, const char *verdict) {
    char m[300], when[40];
    time_t t = time(NULL);
    struct tm tm;
    strftime(when, sizeof when, "%b %d %T", gmtime_r(&t, &tm));
    int n = snprintf(m, sizeof m,
                     "<86>%s card-auth: card=%.6s******%.4s amount=%ld.%02ld verdict=%s", when, card, card + 12,
                     cents / 100, cents % 100, verdict);
    send(log_fd, m, n, 0);
}

static int luhn(const char *card) {
    int sum = 0;
    for (int i = 0; i < 16; i++) {
        int d = (card[i] - '0') * (i % 2 ? 1 : 2);
        sum += d > 9 ? d - 9 : d;
    }
    return sum % 10;
}

static void *terminal(void *arg) {
    FILE *f = fdopen((int)(intptr_t)arg, "r+");
    char line[100], card[20];
    long cents;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%16s %ld", card, &cents) != 2 || strlen(card) != 16) break;
        const char *verdict = cents > 90000 ? "REFER" : luhn(card) > 6 ? "DECLINE" : "APPROVE";
        audit(card, cents, verdict);
        fprintf(f, "%s\n", verdict);
        fflush(f);
    }
    fclose(f);
    return NULL;
}

int main(int c, char **v) {
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    strncpy(u.sun_path, v[2], sizeof u.sun_path - 1);
    log_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (connect(log_fd, (struct sockaddr *)&u, sizeof u)) return perror("log"), 1;
    int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(v[1])), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 64)) return perror("bind"), 1;
    for (;;) {
        int fd = accept(s, NULL, NULL);
        pthread_t t;
        if (fd >= 0 && !pthread_create(&t, NULL, terminal, (void *)(intptr_t)fd)) pthread_detach(t);
    }
}
