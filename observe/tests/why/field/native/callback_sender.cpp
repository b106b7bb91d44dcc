// Calls the systems of partners back, each by the name of its host and with a new connection.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

static std::atomic<long> calls{0}, failed{0}, lookupUs{0}, callUs{0};
static const char* port;
using Clock = std::chrono::steady_clock;
static long us(Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration_cast<std::chrono::microseconds>(b - a).count(); }

static int connect_to(const addrinfo* a) {
    for (; a; a = a->ai_next) {
        int s = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (s < 0) continue;
        if (connect(s, a->ai_addr, a->ai_addrlen) == 0) return s;
        close(s);
    }
    return -1;
}
static bool call(const std::string& host, const std::string& body) {
    auto t0 = Clock::now();
    addrinfo hint{}, *res = nullptr;
    hint.ai_family = AF_INET; hint.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host.c_str(), port, &hint, &res)) return false;
    auto t1 = Clock::now();
    int s = connect_to(res);
    freeaddrinfo(res);
    if (s < 0) return false;
    char answer[256]; ssize_t n = -1;
    if (send(s, body.data(), body.size(), MSG_NOSIGNAL) == (ssize_t)body.size()) n = recv(s, answer, sizeof answer, 0);
    close(s);
    lookupUs += us(t0, t1); callUs += us(t1, Clock::now());
    return n > 2 && !memcmp(answer, "OK", 2);
}
static void sender(int id) {
    char name[16]; snprintf(name, 16, "callback/%d", id); pthread_setname_np(pthread_self(), name);
    unsigned seed = id * 31 + 1;
    for (long seq = 0;; seq++) {
        std::string host = "partner" + std::to_string(rand_r(&seed) % 5000) + ".callback.example.org";
        std::string body = "shipment=" + std::to_string(seq) + "&state=" + (seq % 3 ? "on-the-way" : "delivered")
                + "\n";
        (call(host, body) ? calls : failed)++;
    }
}
int main(int c, char** v) {
    alarm(120);
    port = c > 1 ? v[1] : "7400";
    for (int i = 0; i < 5; i++) std::thread(sender, i).detach();
    for (long last = 0, l = 0, k = 0;;) {
        sleep(2);
        long h = calls, n = h > last ? h - last : 1;
        printf("calls/s %ld failed %ld lookup ms %.1f call ms %.1f\n", (h - last) / 2, failed.load(),
                (lookupUs - l) / 1e3 / n, (callUs - k) / 1e3 / n);
        fflush(stdout); last = h; l = lookupUs; k = callUs;
    }
}
