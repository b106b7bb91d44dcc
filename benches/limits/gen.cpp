// gen text|zipf|tera|pairs (--bytes N | --records N) --output DIR [--ascii] [--seed S] Generates test data if the
// engine's generator is not built. It writes DIR/part-00000, with the same bytes for the same arguments on any number
// of threads: chunks are seeded by their number and written in order.
//   text   lines of 15 to 110 words (about 680 bytes) from 1,000 words of 3 to 22 letters, uniformly drawn
//   zipf   lines of 20 words, drawn by 1/rank from 5.3 million words
//   tera   100-byte records: 10 random key bytes, 88 of payload, CR LF; --ascii: printable key, payload, LF
//   pairs  key TAB signed number LF, 100,000 keys of 4 to 40 letters
#include <cmath>

#include "files.hpp"
#include "threads.hpp"

struct Random {
    uint64_t s;
    uint64_t next() {
        s += 0x9e3779b97f4a7c15;
        uint64_t z = s;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t n) { return (unsigned __int128)next() * n >> 64; }
};

struct Generator {
    std::string kind;
    bool ascii = false;
    uint64_t seed = 1;
    std::vector<std::string> words;

    void prepare() {
        Random r{seed * 77 + 5};
        if (kind == "text")
            for (int i = 0; i < 1000; i++)
                words.push_back(letters(r, 3 + r.below(8) + r.below(8)) + (i % 40 ? "" : "isation"));
        if (kind == "pairs")
            for (int i = 0; i < 100000; i++) words.push_back(letters(r, 4 + r.below(37)));
    }
    static std::string letters(Random& r, size_t n) {
        std::string w;
        while (n--) w += char('a' + r.below(26));
        return w;
    }
    // Rank 0 is the most frequent. The first letters encode the rank, so all ranks have different words.
    static void zipf_word(uint64_t rank, std::string& out) {
        int digits = rank < 26 * 26 ? 2 : 5;
        uint64_t code = rank < 26 * 26 ? rank : (rank * 7368787) % 11881376;
        for (int i = 0; i < digits; i++, code /= 26) out += char('a' + code % 26);
        Random r{rank};
        if (digits == 5)
            for (uint64_t extra = r.below(8); extra; extra--) out += char('a' + r.below(26));
    }
    void record(Random& r, uint64_t number, std::string& out) const {
        if (kind == "text") {
            for (int n = 15 + r.below(96); n; n--) {
                out += words[r.below(words.size())];
                out += n > 1 ? ' ' : '\n';
            }
        } else if (kind == "zipf") {
            static const double span = std::log(5.3e6);
            for (int n = 20; n; n--) {
                double u = (r.next() >> 11) * 0x1p-53;
                zipf_word((uint64_t)std::exp(u * span) - 1, out);
                out += n > 1 ? ' ' : '\n';
            }
        } else if (kind == "tera") {
            char rec[100];
            for (int i = 0; i < 10; i++) rec[i] = ascii ? char(' ' + r.below(95)) : char(r.next() >> 32);
            snprintf(rec + 10, sizeof rec - 10, "  %032llX  ", (unsigned long long)number);
            for (int i = 46; i < 98; i++) rec[i] = "0123456789ABCDEF"[(number + i / 4) % 16];
            rec[98] = ascii ? '.' : '\r';
            rec[99] = '\n';
            out.append(rec, 100);
        } else {
            out += words[r.below(words.size())];
            out += '\t';
            out += std::to_string((int64_t)r.next() >> r.below(50));
            out += '\n';
        }
    }
};

int main(int argc, char** argv) {
    Generator g;
    uint64_t bytes = 0, records = 0;
    std::string output;
    if (argc > 1) g.kind = argv[1];
    for (int i = 2; i < argc; i++) {
        std::string a = argv[i];
        if (a == "--ascii") g.ascii = true;
        else if (i + 1 == argc) die("missing value of " + a);
        else if (a == "--bytes") bytes = strtoull(argv[++i], nullptr, 10);
        else if (a == "--records") records = strtoull(argv[++i], nullptr, 10);
        else if (a == "--output") output = argv[++i];
        else if (a == "--seed") g.seed = strtoull(argv[++i], nullptr, 10);
        else die("unknown option " + a);
    }
    if ((g.kind != "text" && g.kind != "zipf" && g.kind != "tera" && g.kind != "pairs") || output.empty() ||
        !(bytes || records))
        die("usage: gen text|zipf|tera|pairs (--bytes N | --records N) --output DIR [--ascii] [--seed S]");
    if (g.kind == "tera" && bytes) records = bytes / 100, bytes = 0;
    g.prepare();
    OutputDir dir(output);
    int fd = OutputDir::create_file(dir.temporary() + "/part-00000", 0);
    const uint64_t per_chunk = 20000;
    uint64_t chunk = 0, written = 0, made = 0;
    const int threads = 2;
    for (bool more = true; more;) {
        std::string out[threads];
        uint64_t first = chunk;
        on_threads(threads, [&](int t) {
            Random r{g.seed * 1000003 + (first + t) * 0x632be59bd9b4e019};
            uint64_t from = (first + t) * per_chunk,
                     upto = records ? std::min(records, from + per_chunk) : from + per_chunk;
            for (uint64_t n = from; n < upto && (!bytes || out[t].size() < bytes); n++) g.record(r, n, out[t]);
        });
        for (int t = 0; t < threads && more; t++, chunk++) {
            size_t n = out[t].size();
            if (bytes && written + n >= bytes) {  // the last line may exceed the requested size
                n = out[t].find('\n', bytes - written ? bytes - written - 1 : 0) + 1;
                more = false;
            }
            write_at(fd, out[t].data(), n, written);
            written += n;
            made += per_chunk;
            if (records && made >= records) more = false;
        }
    }
    dir.commit();
}
