// Settles accounts: each goes through a dozen small steps, on two threads.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#define STEP static __attribute__((noinline))

struct Account { uint64_t id; char iban[24]; double bal[96]; int kind[96]; char text[400]; double out; };
STEP double interest(Account& a) { double s = 0;
    for (int i = 0; i < 96; i++) s += a.bal[i] * pow(1.0 + i * 1e-4, 0.25);
    return s; }
STEP int iban_check(Account& a) { int m = 0;
    for (int k = 0; k < 20; k++) for (char c : a.iban) m = (m * 10 + c + k) % 97;
    return m; }
STEP double median(Account& a) { double v[96]; memcpy(v, a.bal, sizeof v); std::sort(v, v + 96); return v[48]; }
STEP size_t histogram(Account& a) { std::map<int, int> h; for (int i = 0; i < 36; i++) h[a.kind[i]]++;
    return h.size(); }
STEP uint32_t crc(Account& a) { uint32_t c = ~0u; for (int i = 0; i < 320; i++) { c ^= (unsigned char)a.text[i];
    for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0); } return c; }
STEP size_t words(Account& a) { size_t n = 0; std::string w; for (char c : a.text) { if (c == ' ') {
    n += w.size() > 3; w.clear(); } else w += c; } return n; }
STEP double variance(Account& a) { double m = 0, v = 0; for (int r = 0; r < 8; r++) { for (double b : a.bal) m += b;
    m /= 96; for (double b : a.bal) v += (b - m) * (b - m) / (96 + r); } return v; }
STEP int format(Account& a) { char b[64]; int n = 0;
    for (int i = 0; i < 7; i++) n += snprintf(b, sizeof b, "%s %.2f", a.iban, a.bal[i]);
    return n; }
STEP int fees(Account& a) { int f = 0;
    for (int r = 0; r < 4; r++) for (int i = 0; i < 96; i++) switch ((a.kind[i] + r) % 5) { case 0: f += 3; break;
    case 1: f += a.bal[i] > 500 ? 9 : 1; break; case 2: f -= 1; break; default: f ^= i; } return f; }
STEP double forecast(Account& a) { double s = a.bal[0], t = 0;
    for (int r = 0; r < 4; r++) for (int i = 1; i < 96; i++) { double p = s; s = 0.3 * a.bal[i] + 0.7 * (s + t);
    t = 0.1 * (s - p) + 0.9 * t; } return s; }
STEP int search(Account& a) { int n = 0;
    for (const char* k : {"rent", "loan", "fee", "tax"}) for (const char* p = a.text; (p = strstr(p, k)); p++) n++;
    for (int i = 0; i < 300; i++) n += memchr(a.text + i, 'q', 60) != 0;
    return n; }
STEP uint64_t dedupe(Account& a) { std::vector<uint64_t> v;
    for (int i = 0; i < 44; i++) v.push_back((uint64_t)(a.bal[i] * 100) * 31 + a.kind[i]);
    std::sort(v.begin(), v.end()); return std::unique(v.begin(), v.end()) - v.begin(); }

static std::vector<Account> accounts;
static std::atomic<long> done{0};
static void settle(size_t from) {
    for (size_t i = from;; i += 2) {
        Account& a = accounts[i % accounts.size()];
        a.out = interest(a) + iban_check(a) + median(a) + histogram(a) + crc(a) + words(a) + variance(a) + format(a)
                + fees(a) + forecast(a) + search(a) + dedupe(a);
        done++;
    }
}
int main() {
    alarm(120);
    unsigned s = 9;
    for (int i = 0; i < 600; i++) {
        Account a{}; a.id = i; snprintf(a.iban, 24, "DE%020d", rand_r(&s));
        for (int k = 0; k < 96; k++) { a.bal[k] = rand_r(&s) % 100000 / 100.0; a.kind[k] = rand_r(&s) % 40; }
        for (int k = 0; k < 399; k++) a.text[k] = rand_r(&s) % 6 ? 'a' + rand_r(&s) % 16 : ' ';
        accounts.push_back(a);
    }
    std::thread x(settle, 0), y(settle, 1);
    for (long last = 0;;) { sleep(2); long h = done; printf("accounts/s %ld\n", (h - last) / 2); fflush(stdout);
        last = h; }
}
