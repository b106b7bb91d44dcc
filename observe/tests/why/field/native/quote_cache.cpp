// Reads feeds of trades and puts them into one book of recent prices.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

struct Trade { std::string symbol; double price; int size; };
struct Series { std::deque<std::pair<double, int>> window; double vwap = 0, hi = 0, lo = 0;
    std::list<std::string>::iterator pos; };

class QuoteBook {
    std::mutex mtx;
    std::unordered_map<std::string, Series> series;
    std::list<std::string> recency;
    std::map<double, std::string> ranking;
    __attribute__((noinline)) void vwap(Series& s) {
        double pv = 0; long v = 0;
        for (auto& p : s.window) { pv += p.first * p.second; v += p.second; }
        s.vwap = pv / (v ? v : 1);
    }
    __attribute__((noinline)) void range(Series& s) {
        s.hi = 0; s.lo = 1e9;
        for (auto& p : s.window) { s.hi = std::max(s.hi, p.first); s.lo = std::min(s.lo, p.first); }
    }
    __attribute__((noinline)) void rank(const std::string& sym, const Series& s) {
        ranking[s.vwap * 1000] = sym;
        while (ranking.size() > 300) ranking.erase(ranking.begin());
    }
    __attribute__((noinline)) double median(Series& s) {
        std::vector<double> v; v.reserve(s.window.size());
        for (auto& p : s.window) v.push_back(p.first);
        std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
        return v[v.size() / 2];
    }
public:
    double on_trade(const Trade& t) {
        std::lock_guard<std::mutex> g(mtx);
        auto it = series.find(t.symbol);
        if (it == series.end()) { it = series.emplace(t.symbol, Series{}).first; recency.push_front(t.symbol);
            it->second.pos = recency.begin(); }
        Series& s = it->second;
        s.window.emplace_back(t.price, t.size);
        if (s.window.size() > 900) s.window.pop_front();
        recency.splice(recency.begin(), recency, s.pos);
        vwap(s); range(s); rank(t.symbol, s);
        return median(s);
    }
};

static std::atomic<long> trades{0};
static bool decode(const char* msg, Trade& t) {
    char sym[12];
    if (sscanf(msg, "35=X|55=%11[^|]|270=%lf|271=%d", sym, &t.price, &t.size) != 3) return false;
    t.symbol = sym; return true;
}
static void feed(QuoteBook* book, int id) {
    char name[16]; snprintf(name, 16, "feed-%d", id); pthread_setname_np(pthread_self(), name);
    unsigned seed = id * 77 + 1; char msg[96]; Trade t; double sum = 0;
    for (;;) {
        unsigned r = rand_r(&seed);
        snprintf(msg, sizeof msg, "35=X|55=S%03u|270=%.2f|271=%u", r % 64, 90 + (r >> 8) % 2000 / 100.0, 1 + r % 50);
        if (decode(msg, t)) sum += book->on_trade(t);
        trades++;
    }
}
int main(int c, char** v) {
    alarm(120);
    static QuoteBook books[6];
    bool own = c > 1 && !strcmp(v[1], "own");
    for (int i = 0; i < 6; i++) std::thread(feed, &books[own ? i : 0], i).detach();
    for (long last = 0;;) { sleep(2); long h = trades; printf("trades/s %ld\n", (h - last) / 2); fflush(stdout);
        last = h; }
}
