// market-tick: sends quotes of several instruments to an exchange and waits for its confirmations.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

struct Header {
    uint32_t kind, size;
};

struct Quote {
    char instrument[12];
    double bid, ask;
    uint32_t quantity;
};

static std::atomic<long> confirmed;

class Session {
    int fd;

public:
    Session(int port, bool nodelay) : fd(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_port = htons(port);
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(fd, (sockaddr *)&a, sizeof a)) {
            perror("connect");
            exit(1);
        }
        int one = 1;
        if (nodelay) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }

    bool send(uint32_t kind, const std::vector<Quote> &quotes) {
        Header h{kind, uint32_t(quotes.size() * sizeof(Quote))};
        if (write(fd, &h, sizeof h) != sizeof h) return false;
        if (write(fd, quotes.data(), h.size) != ssize_t(h.size)) return false;
        Header answer;
        return recv(fd, &answer, sizeof answer, MSG_WAITALL) == sizeof answer && answer.kind == kind;
    }
};

static void maker(int port, bool nodelay, int desk) {
    Session s(port, nodelay);
    std::mt19937 rnd(desk);
    std::normal_distribution<double> step(0, 0.05);
    double mid = 100 + desk;
    for (uint32_t n = 0;; n++) {
        std::vector<Quote> q(1 + n % 4);
        for (auto &x : q) {
            mid += step(rnd);
            snprintf(x.instrument, sizeof x.instrument, "DE%09d", desk);
            x.bid = mid - 0.01;
            x.ask = mid + 0.01;
            x.quantity = rnd() % 1000;
        }
        if (!s.send(7, q)) exit(0);
        confirmed++;
    }
}

int main(int, char **v) {
    std::vector<std::thread> desks;
    for (int d = 0; d < 4; d++) desks.emplace_back(maker, atoi(v[1]), *v[2] == '1', d);
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        printf("done %ld\n", confirmed.load());
        fflush(stdout);
    }
}
