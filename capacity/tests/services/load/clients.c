/*
 * Clients of one service: a closed loop of N clients, or an open loop with Poisson arrivals. One thread with epoll.
 *
 *     clients --port P --clients N --seconds S [--warm S] [--rate R] [--watch PID]... --url PATH=SHARE ...
 *
 * Prints one JSON document: requests, errors, rate, response times in ms, and processor seconds of the clients, of the
 * watched processes and of the machine within the measured seconds. With --rate, a response time counts from the moment
 * that the schedule names, so that a stalled service is not spared. The program ends with its parent.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { URLS_MAX = 16, WATCHED_MAX = 16, CLIENTS_MAX = 1024, ANSWER_MAX = 65536, EVENTS_MAX = 256 };

struct client {
    int fd;
    int busy;
    int url;
    int64_t start_ns;
    size_t length;
    char answer[ANSWER_MAX];
};

struct url {
    char request[1024];
    double share;
    long done;
    double sum_ms;
};

struct growing {
    void *data;
    size_t count, room;
};

static int port, client_count = 1, url_count, watched_count;
static double seconds = 5, warm = 1, rate;
static int watched[WATCHED_MAX];
static struct url urls[URLS_MAX];
static struct client *clients;
static struct client *idle[CLIENTS_MAX];
static int idle_count;
static struct growing times; /* response times in ms: float */
static struct growing queue; /* arrivals that wait for a client: int64_t ns */
static size_t queue_first;
static long errors;
static int64_t measure_ns, end_ns;
static int epoll_fd;
static uint64_t seed = 88172645463325252ULL;

static void fail(const char *what)
{
    fprintf(stderr, "clients: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Returns a number in (0, 1). */
static double chance(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static void *add(struct growing *to, size_t size)
{
    if (to->count == to->room) {
        to->room = to->room ? to->room * 2 : 4096;
        to->data = realloc(to->data, to->room * size);
        if (!to->data)
            fail("realloc");
    }
    return (char *)to->data + size * to->count++;
}

static void connect_client(struct client *client)
{
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    int on = 1;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, client->fd, &event) != 0)
        fail("epoll_ctl");
    client->length = 0;
}

static void send_request(struct client *client, int64_t start_ns)
{
    double pick = chance();
    client->url = 0;
    while (client->url < url_count - 1 && pick >= urls[client->url].share)
        pick -= urls[client->url++].share;
    client->start_ns = start_ns;
    client->busy = 1;
    const char *request = urls[client->url].request;
    if (send(client->fd, request, strlen(request), MSG_NOSIGNAL) < 0)
        errors++;
}

/* Returns 1 when the whole answer is there, 0 when more must come, -1 when it is no answer that the clients know. */
static int is_whole(const struct client *client)
{
    const char *end = memmem(client->answer, client->length, "\r\n\r\n", 4);
    if (!end)
        return client->length == ANSWER_MAX - 1 ? -1 : 0;
    const char *field = strcasestr(client->answer, "\r\nContent-Length:");
    if (!field || field > end)
        return -1;
    size_t whole = (size_t)(end + 4 - client->answer) + strtoul(field + 17, NULL, 10);
    return whole >= ANSWER_MAX ? -1 : client->length >= whole;
}

static void next_request(struct client *client)
{
    client->busy = 0;
    client->length = 0;
    if (rate == 0)
        send_request(client, now_ns());
    else if (queue_first < queue.count)
        send_request(client, ((int64_t *)queue.data)[queue_first++]);
    else
        idle[idle_count++] = client;
}

static void read_answer(struct client *client)
{
    ssize_t n = recv(client->fd, client->answer + client->length, ANSWER_MAX - 1 - client->length, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return;
    int whole = -1;
    if (n > 0) {
        client->length += (size_t)n;
        client->answer[client->length] = 0;
        whole = is_whole(client);
        if (whole == 0)
            return;
    }
    int64_t now = now_ns();
    if (whole < 0) {
        errors++;
        close(client->fd);
        connect_client(client);
        if (!client->busy)
            return;
    } else if (strncmp(client->answer + 8, " 200", 4) != 0) {
        errors++;
    } else if (now >= measure_ns) {
        float ms = (float)((double)(now - client->start_ns) / 1e6);
        *(float *)add(&times, sizeof ms) = ms;
        urls[client->url].done++;
        urls[client->url].sum_ms += ms;
    }
    next_request(client);
}

/* Returns the processor seconds that a process has used. */
static double process_seconds(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    char *rest = strrchr(text, ')');
    unsigned long user = 0, system = 0;
    if (rest)
        sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double own_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* Sets the busy seconds of the machine and the seconds that a hypervisor took. */
static void machine_seconds(double *busy, double *stolen)
{
    unsigned long v[8] = {0};
    FILE *file = fopen("/proc/stat", "r");
    if (file) {
        if (fscanf(file, "cpu %lu %lu %lu %lu %lu %lu %lu %lu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
                   &v[7]) != 8)
            memset(v, 0, sizeof v);
        fclose(file);
    }
    double tick = (double)sysconf(_SC_CLK_TCK);
    *busy = (double)(v[0] + v[1] + v[2] + v[5] + v[6]) / tick;
    *stolen = (double)v[7] / tick;
}

struct usage {
    double own, busy, stolen;
    double process[WATCHED_MAX];
};

static void take_usage(struct usage *usage)
{
    usage->own = own_seconds();
    machine_seconds(&usage->busy, &usage->stolen);
    for (int i = 0; i < watched_count; i++)
        usage->process[i] = process_seconds(watched[i]);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double percentile(double p)
{
    if (times.count == 0)
        return 0;
    size_t at = (size_t)(p * (double)times.count);
    return ((float *)times.data)[at < times.count ? at : times.count - 1];
}

static void print(const struct usage *from, const struct usage *to, double measured)
{
    double sum = 0;
    for (size_t i = 0; i < times.count; i++)
        sum += ((float *)times.data)[i];
    if (times.count)
        qsort(times.data, times.count, sizeof(float), by_size);
    printf("{\"clients\": %d, \"requests\": %zu, \"errors\": %ld, \"seconds\": %.3f, \"rate\": %.3f, ", client_count,
           times.count, errors, measured, (double)times.count / measured);
    printf("\"mean_ms\": %.3f, \"p50_ms\": %.3f, \"p90_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f, ",
           times.count ? sum / (double)times.count : 0, percentile(.5), percentile(.9), percentile(.99), percentile(1));
    printf("\"urls\": [");
    for (int i = 0; i < url_count; i++)
        printf("%s{\"requests\": %ld, \"mean_ms\": %.3f}", i ? ", " : "", urls[i].done,
               urls[i].done ? urls[i].sum_ms / (double)urls[i].done : 0);
    printf("], \"client_cpu\": %.4f, \"machine_cpu\": %.3f, \"stolen_cpu\": %.3f, \"watched_cpu\": [",
           (to->own - from->own) / measured, (to->busy - from->busy) / measured,
           (to->stolen - from->stolen) / measured);
    for (int i = 0; i < watched_count; i++)
        printf("%s%.4f", i ? ", " : "", (to->process[i] - from->process[i]) / measured);
    printf("]}\n");
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--port") == 0)
            port = atoi(value);
        else if (strcmp(name, "--clients") == 0)
            client_count = atoi(value);
        else if (strcmp(name, "--seconds") == 0)
            seconds = atof(value);
        else if (strcmp(name, "--warm") == 0)
            warm = atof(value);
        else if (strcmp(name, "--rate") == 0)
            rate = atof(value);
        else if (strcmp(name, "--seed") == 0)
            seed ^= strtoull(value, NULL, 10) * 2654435761u;
        else if (strcmp(name, "--watch") == 0 && watched_count < WATCHED_MAX)
            watched[watched_count++] = atoi(value);
        else if (strcmp(name, "--url") == 0 && url_count < URLS_MAX) {
            struct url *url = &urls[url_count++];
            const char *share = strrchr(value, '=');
            url->share = share ? atof(share + 1) : 1;
            int length = share ? (int)(share - value) : (int)strlen(value);
            snprintf(url->request, sizeof url->request, "GET %.*s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", length,
                     value, port);
        }
    }
    if (port <= 0 || url_count == 0 || client_count < 1 || client_count > CLIENTS_MAX || seconds <= 0) {
        fprintf(stderr, "usage: clients --port P --clients N --seconds S [--warm S] [--rate R] [--seed N] "
                        "[--watch PID].. --url PATH=SHARE ..\n");
        exit(2);
    }
}

static int64_t schedule(int timer_fd, int64_t next_ns)
{
    int64_t now = now_ns();
    while (next_ns <= now) {
        if (idle_count)
            send_request(idle[--idle_count], next_ns);
        else
            *(int64_t *)add(&queue, sizeof next_ns) = next_ns;
        next_ns += (int64_t)(-log(chance()) / rate * 1e9);
    }
    struct itimerspec when = {.it_value = {next_ns / 1000000000, next_ns % 1000000000}};
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    return next_ns;
}

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    read_options(argc, argv);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &event);
    clients = calloc((size_t)client_count, sizeof *clients);
    if (!clients)
        fail("calloc");
    int64_t start = now_ns();
    measure_ns = start + (int64_t)(warm * 1e9);
    end_ns = measure_ns + (int64_t)(seconds * 1e9);
    for (int i = 0; i < client_count; i++) {
        connect_client(&clients[i]);
        next_request(&clients[i]);
    }
    int64_t next_ns = start;
    struct usage from = {0}, to = {0};
    int64_t from_ns = 0;
    for (int64_t now = start; now < end_ns; now = now_ns()) {
        if (rate > 0)
            next_ns = schedule(timer_fd, next_ns);
        if (from_ns == 0 && now >= measure_ns) {
            take_usage(&from);
            measure_ns = from_ns = now_ns();
        }
        struct epoll_event events[EVENTS_MAX];
        int wait_ms = (int)(((from_ns ? end_ns : measure_ns) - now) / 1000000) + 1;
        int n = epoll_wait(epoll_fd, events, EVENTS_MAX, wait_ms);
        uint64_t expirations;
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr)
                read_answer(events[i].data.ptr);
            else
                (void)!read(timer_fd, &expirations, sizeof expirations);
        }
    }
    take_usage(&to);
    print(&from, &to, (double)(now_ns() - from_ns) / 1e9);
    return 0;
}
