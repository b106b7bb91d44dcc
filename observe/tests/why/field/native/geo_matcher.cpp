// Assigns position reports of vehicles to the delivery zones that hold them.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <random>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

struct Pt { double lat, lon; };
class Zone {
public:
    std::string name;
    std::vector<Pt> ring;
    __attribute__((noinline)) bool contains(const Pt& p) const {
        bool in = false;
        size_t n = ring.size();
        for (size_t i = 0, j = n - 1; i < n; j = i++) {
            const Pt &a = ring[i], &b = ring[j];
            if ((a.lon > p.lon) != (b.lon > p.lon) &&
                p.lat < (b.lat - a.lat) * (p.lon - a.lon) / (b.lon - a.lon) + a.lat)
                in = !in;
        }
        return in;
    }
};
struct Report { char vehicle[16]; Pt at; };

static std::vector<Zone> zones;
static std::vector<std::string> feed;
static std::atomic<long> handled{0}, matched{0};

static __attribute__((noinline)) Report decode(const std::string& s) {
    Report r{};
    size_t c = s.find(',');
    memcpy(r.vehicle, s.data(), c < 15 ? c : 15);
    char* e;
    r.at.lat = strtod(s.c_str() + c + 1, &e);
    r.at.lon = strtod(e + 1, nullptr);
    return r;
}

static void* matcher(void* arg) {
    pthread_setname_np(pthread_self(), arg ? "match-b" : "match-a");
    std::unordered_map<std::string, int> perVehicle;
    for (size_t i = arg ? 777 : 0;; i++) {
        Report r = decode(feed[i % feed.size()]);
        for (const Zone& z : zones)
            if (z.contains(r.at)) { perVehicle[r.vehicle]++; matched++; break; }
        handled++;
    }
}

int main() {
    alarm(120);
    std::mt19937 g(3);
    std::uniform_real_distribution<> u(0, 10);
    for (int z = 0; z < 300; z++) {
        Zone zn; zn.name = "zone-" + std::to_string(z);
        double cy = u(g), cx = u(g);
        for (int k = 0; k < 48; k++) zn.ring.push_back({cy + 0.2 * sin(k / 48.0 * 6.283),
                cx + 0.2 * cos(k / 48.0 * 6.283)});
        zones.push_back(zn);
    }
    for (int i = 0; i < 4000; i++) {
        char b[80]; snprintf(b, sizeof b, "veh%03d,%.5f,%.5f", i % 500, u(g), u(g)); feed.push_back(b);
    }
    pthread_t a, b;
    pthread_create(&a, 0, matcher, 0);
    pthread_create(&b, 0, matcher, (void*)1);
    for (long last = 0;;) { sleep(2); long h = handled; printf("reports/s %ld\n", (h - last) / 2); fflush(stdout);
        last = h; }
}
