// rpcload HOST PORT CONNECTIONS SECONDS PATH: requests one path repeatedly from a NameNode (getFileInfo). Each
// connection sends the next request when it has the response.
//
// It shows the minimum cost of a load client with epoll, as the limit of `yunti nn load --io epoll`. It uses one
// thread, and one recv and one send per call with the same bytes. It reads only the lengths of responses and times
// nothing.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "files.hpp"

using std::string;

// Lengths here are below 128: one byte.
static string field(int tag, const string& bytes) { return string{char(tag << 3 | 2), char(bytes.size())} + bytes; }
static string number(int tag, int value) { return string{char(tag << 3), char(value)}; }
static string delimited(const string& bytes) { return string{char(bytes.size())} + bytes; }
static string framed(const string& bytes) {
    uint32_t length = htonl(bytes.size());
    return string((char*)&length, 4) + bytes;
}

static const string PROTOCOL = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

// RpcRequestHeaderProto: protocol buffers, final packet, number (zigzag), client, retries.
static string header(int zigzag_call) {
    return delimited(number(1, 2) + number(2, 0) + number(3, zigzag_call) + field(4, "yunti-limit-0000") +
                     number(5, 0));
}

static string hello(const string& user) {
    string context = field(2, field(1, user)) + field(3, PROTOCOL);
    return string("hrpc\x09\0\0", 7) + framed(header(5) + delimited(context));
}

static string request(const string& path) {
    string method = field(1, "getFileInfo") + field(2, PROTOCOL) + number(3, 1);
    return framed(header(2) + delimited(method) + delimited(field(1, path)));
}

static double now(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

// State of a response: the missing bytes, or the received part of its length.
struct Answer {
    uint32_t length = 0;
    int length_bytes = 0;
    uint32_t left = 0;

    // Returns the number of responses that these bytes complete.
    int take(const unsigned char* p, ssize_t n) {
        int whole = 0;
        while (n > 0) {
            if (length_bytes < 4) {
                length = length << 8 | *p++;
                n--;
                if (++length_bytes == 4) left = length;
            } else {
                ssize_t some = n < (ssize_t)left ? n : (ssize_t)left;
                p += some, n -= some, left -= some;
            }
            if (length_bytes == 4 && left == 0) whole++, length = 0, length_bytes = 0;
        }
        return whole;
    }
};

int main(int argc, char** argv) {
    if (argc != 6) die("usage: rpcload HOST PORT CONNECTIONS SECONDS PATH");
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(atoi(argv[2]));
    if (inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) die("HOST is an IPv4 address");
    int connections = atoi(argv[3]);
    double seconds = atof(argv[4]);
    if (strlen(argv[5]) > 100) die("PATH has at most 100 bytes");
    const char* user = getenv("USER");
    string begin = hello(user ? user : "root"), call = request(argv[5]);

    int poll = epoll_create1(0);
    std::vector<Answer> answers(connections);
    std::vector<int> sockets(connections);
    for (int i = 0; i < connections; i++) {
        int s = sockets[i] = socket(AF_INET, SOCK_STREAM, 0), one = 1;
        if (connect(s, (sockaddr*)&to, sizeof to) != 0) die("connect");
        setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        string first = begin + call;
        if (send(s, first.data(), first.size(), 0) != (ssize_t)first.size()) die("send");
        epoll_event event{EPOLLIN, {}};
        event.data.u32 = i;
        epoll_ctl(poll, EPOLL_CTL_ADD, s, &event);
    }
    std::vector<epoll_event> events(1024);
    unsigned char buffer[16384];
    long calls = 0, waits = 0;
    double from = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), until = from + seconds;
    while (now(CLOCK_MONOTONIC) < until) {
        int n = epoll_wait(poll, events.data(), events.size(), 100);
        waits++;
        for (int e = 0; e < n; e++) {
            int i = events[e].data.u32;
            ssize_t got = recv(sockets[i], buffer, sizeof buffer, MSG_DONTWAIT);
            if (got <= 0) die("recv");
            for (int whole = answers[i].take(buffer, got); whole > 0; whole--) {
                calls++;
                if (send(sockets[i], call.data(), call.size(), MSG_NOSIGNAL) != (ssize_t)call.size()) die("send");
            }
        }
    }
    cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    double took = now(CLOCK_MONOTONIC) - from;
    printf("%ld calls, %.0f a second, %.2f us of processor time a call, %.2f answers a wait\n", calls, calls / took,
           cpu * 1e6 / calls, double(calls) / waits);
}
