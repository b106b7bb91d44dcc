// maxbykey IN OUT THREADS: finds the largest signed 64-bit number of each key over "key TAB number LF" lines of a file
// or of the files of a directory. Writes "key TAB number LF" in any order to the directory OUT, like wordcount.
#include <algorithm>
#include <memory>

#include "arena.hpp"
#include "vectors/bytes64.hpp"
#include "fold_table.hpp"
#include "vectors/hash.hpp"
#include "output_stream.hpp"
#include "pieces.hpp"
#include "threads.hpp"

constexpr size_t kInline = 44;

// Slot of one cache line. It holds a zero-padded key of up to 44 bytes, or the pointer and hash of a longer key.
struct alignas(64) MaxSlot {
    char key[kInline];
    uint32_t bytes_plus_1;
    int64_t max;
    uint64_t hashed;

    bool used() const { return bytes_plus_1; }
    size_t bytes() const { return bytes_plus_1 - 1; }
    const char* text() const {
        const char* p = key;
        if (bytes() > kInline) memcpy(&p, key, sizeof p);
        return p;
    }
    void point_to(const char* text) { memcpy(key, &text, sizeof text); }
    uint64_t hash() const { return hashed; }
    bool same(const MaxSlot& o) const {
        if (bytes_plus_1 <= kInline + 1) {  // key and length at once
            return same_48(this, &o);
        }
        return hashed == o.hashed && bytes_plus_1 == o.bytes_plus_1 && !memcmp(text(), o.text(), bytes());
    }
    void fold(const MaxSlot& o) { max = std::max(max, o.max); }
    bool commoner(const MaxSlot&) const { return false; }
};
static_assert(sizeof(MaxSlot) == 64 && offsetof(MaxSlot, bytes_plus_1) == 44);

static int64_t parse_number(const char* p, const char* end) {
    bool negative = p < end && *p == '-';
    if (negative || (p < end && *p == '+')) p++;
    if (p == end || end - p > 19) { errno = 0; die("not a signed 64-bit number"); }
    uint64_t v = 0;
    while (end - p >= 8) {  // eight digits at a time
        uint64_t d;
        memcpy(&d, p, 8);
        d -= 0x3030303030303030;
        if ((d | (d + 0x7676767676767676)) & 0x8080808080808080) { errno = 0; die("not a signed 64-bit number"); }
        d = d * 10 + (d >> 8);
        d = ((d & 0x000000ff000000ff) * 0x000f424000000064 + ((d >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
            32;
        v = v * 100000000 + d;
        p += 8;
    }
    for (; p < end; p++) {
        unsigned digit = (unsigned char)*p - '0';
        if (digit > 9) { errno = 0; die("not a signed 64-bit number"); }
        v = v * 10 + digit;
    }
    if (v > uint64_t(INT64_MAX) + negative) { errno = 0; die("not a signed 64-bit number"); }
    return negative ? -v : v;
}

class MaxByKey {
  public:
    FoldTable<MaxSlot> table{12};

    void add_lines(const char* data, size_t bytes) {  // ends with LF
        const char *line = data, *tab = nullptr;
        for (size_t at = 0; at < bytes; at += 64) {
            uint64_t inside = bytes - at < 64 ? (1ull << (bytes - at)) - 1 : ~0ull;
            uint64_t feeds = inside & equal_mask(data + at, '\n'), tabs = inside & equal_mask(data + at, '\t');
            for (uint64_t marks = feeds | tabs; marks; marks &= marks - 1) {
                const char* mark = data + at + _tzcnt_u64(marks);
                if (marks & -marks & tabs) {
                    if (!tab) tab = mark;
                    continue;
                }
                if (!tab) { errno = 0; die("line without a tab"); }
                add(line, tab - line, parse_number(tab + 1, mark));
                line = mark + 1;
                tab = nullptr;
            }
        }
        flush();
    }

  private:
    void add(const char* key, size_t bytes, int64_t number) {
        MaxSlot& s = batch_[waiting_++];
        if (bytes <= kInline) {
            store_padded_64(&s, key, bytes);
            const __m128i* part = (const __m128i*)&s;
            __m128i a = part[0], b = part[1], c = part[2];
            s.hashed = hash_two(_mm_aesenc_si128(a, b), _mm_xor_si128(c, _mm_cvtsi64_si128(bytes)));
        } else {
            s.point_to(key);
            s.hashed = hash_bytes(key, bytes);
        }
        s.bytes_plus_1 = bytes + 1;
        s.max = number;
        _mm_prefetch((const char*)table.home(s.hashed), _MM_HINT_T0);
        if (waiting_ == kBatch) flush();
    }
    void flush() {
        for (size_t i = 0; i < waiting_; i++)
            table.add(batch_[i], batch_[i].hashed, [&](MaxSlot s) {
                if (s.bytes() > kInline) s.point_to(arena_.keep(s.text(), s.bytes()));
                return s;
            });
        waiting_ = 0;
    }
    static constexpr size_t kBatch = 64;
    MaxSlot batch_[kBatch];
    size_t waiting_ = 0;
    Arena arena_;
};

int main(int argc, char** argv) {
    if (argc != 4) die("usage: maxbykey IN OUT THREADS");
    const int threads = std::max(1, atoi(argv[3]));
    auto files = open_inputs(argv[1]);
    OutputDir out(argv[2]);
    Ranges ranges(files, 4 << 20);
    std::vector<std::unique_ptr<MaxByKey>> parts(threads);
    on_threads(threads, [&](int t) {
        parts[t] = std::make_unique<MaxByKey>();
        PieceReader reader([](unsigned char c) { return c == '\n'; });
        while (auto* range = ranges.claim())
            reader.read(*range, [&](const char* data, size_t n) { parts[t]->add_lines(data, n); });
    });
    for (int t = 1; t < threads; t++)
        for (MaxSlot* s = parts[t]->table.begin(); s < parts[t]->table.end(); s++)
            if (s->used()) parts[0]->table.add(*s, s->hashed, [](const MaxSlot& x) { return x; });

    std::atomic<uint64_t> file_end{0};
    {
        OutputStream stream(out.create_part(0), file_end);
        for (MaxSlot* s = parts[0]->table.begin(); s < parts[0]->table.end(); s++) {
            if (!s->used()) continue;
            std::string number = '\t' + std::to_string(s->max) + '\n';
            if (s->bytes() > 4096) {
                stream.write_alone(s->text(), s->bytes());
                stream.write_alone(number.data(), number.size());
                continue;
            }
            char* to = stream.room(s->bytes() + number.size());
            memcpy(to, s->text(), s->bytes());
            memcpy(to + s->bytes(), number.data(), number.size());
            stream.advance(to + s->bytes() + number.size());
        }
    }
    out.commit();
    _exit(0);
}
