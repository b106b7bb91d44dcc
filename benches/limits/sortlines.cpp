// sortlines IN OUT_FILE THREADS: sorts the lines of a file or of the files of a directory in byte order, like LC_ALL=C
// sort.
//
// Lines are numbered, and an 8-byte entry holds 36 key bits and the number. Buckets by the first 8 bytes are sorted in
// cache. Lines that tie get new keys from the 4 bytes after their common prefix.
#include <immintrin.h>

#include <atomic>
#include <memory>

#include "buckets.hpp"
#include "vectors/bytes64.hpp"
#include "mapped_input.hpp"
#include "vectors/vector_sort.hpp"
#include "splitters.hpp"
#include "threads.hpp"

constexpr int kPositionBits = Splitters::kPositionBits;
constexpr uint64_t kPositionMask = (1ull << kPositionBits) - 1;

// Returns the first 8 bytes as a big-endian number, with zeros past the end. Readable bytes follow a mapped file.
static uint64_t prefix_of(const char* p, size_t n) {
    uint64_t v;
    memcpy(&v, p, 8);
    v = __builtin_bswap64(v);
    return n >= 8 ? v : n ? v & ~0ull << (64 - 8 * n) : 0;
}

class Lines {
  public:
    Lines()
            : start_((const char**)map_memory((kPositionMask + 1) * 8)),
              size_((uint32_t*)map_memory((kPositionMask + 1) * 4)) {}
    void set(uint64_t number, const char* start, size_t size) {
        if (size > UINT32_MAX) die("line of more than 4 GiB");
        start_[number] = start;
        size_[number] = size;
    }
    const char* start(uint64_t entry) const { return start_[entry & kPositionMask]; }
    size_t size(uint64_t entry) const { return size_[entry & kPositionMask]; }

    // Sorts entries by their keys, and entries with equal keys by their lines.
    void sort(uint64_t* entries, size_t n, uint64_t* scratch) const {
        sort_u64(entries, n, scratch);
        sort_ties(entries, n, 0, scratch);
    }

  private:
    // Sorts groups of equal keys, whose lines share `depth` bytes including zeros past the end.
    void sort_ties(uint64_t* entries, size_t n, size_t depth, uint64_t* scratch) const {
        for (size_t from = 0, to; from < n; from = to) {
            for (to = from + 1; to < n && !((entries[from] ^ entries[to]) >> kPositionBits); to++) {}
            if (to - from > 1) sort_group(entries + from, to - from, depth, scratch);
        }
    }
    void sort_group(uint64_t* e, size_t n, size_t depth, uint64_t* scratch) const {
        for (;;) {
            if (n < 12) {
                std::sort(e, e + n, [&](uint64_t a, uint64_t b) { return less(a, b); });
                return;
            }
            // A line that ends here is a prefix of the others.
            uint64_t* rest = std::partition(e, e + n, [&](uint64_t x) { return size(x) <= depth; });
            std::sort(e, rest, [&](uint64_t a, uint64_t b) { return size(a) < size(b); });
            n -= rest - e;
            e = rest;
            if (n < 2) return;
            size_t common = size(e[0]);
            for (size_t i = 1; i < n && common > depth; i++) {
                if (i + 16 < n) _mm_prefetch(start(e[i + 16]) + depth, _MM_HINT_T0);
                common = agree(e[0], e[i], depth, common);
            }
            if (common > depth) { depth = common; continue; }
            for (size_t i = 0; i < n; i++) {
                uint64_t key = prefix_of(start(e[i]) + depth, size(e[i]) - depth) >> 32;
                e[i] = key << kPositionBits | (e[i] & kPositionMask);
            }
            sort_u64(e, n, scratch);
            sort_ties(e, n, depth + 4, scratch);
            return;
        }
    }
    size_t agree(uint64_t a, uint64_t b, size_t from, size_t limit) const {
        const char *p = start(a), *q = start(b);
        limit = std::min(limit, size(b));
        size_t i = from;
        while (i < limit && p[i] == q[i]) i++;
        return i;
    }
    bool less(uint64_t a, uint64_t b) const {
        size_t m = size(a), n = size(b);
        int order = memcmp(start(a), start(b), std::min(m, n));
        return order ? order < 0 : m < n;
    }
    const char** start_;
    uint32_t* size_;
};

// Calls use(start, size) for each line that begins in the piece.
template <class Use>
static void each_line(const MappedInput::Piece& piece, Use use) {
    const char* line = piece.begin;
    if (line > piece.file_begin && line[-1] != '\n') {
        line = (const char*)memchr(line, '\n', piece.end - line);
        if (!line || ++line == piece.end) return;
    }
    for (const char* at = line; at < piece.end; at += 64) {
        uint64_t ends = equal_mask(at, '\n');
        if (piece.end - at < 64) ends &= (1ull << (piece.end - at)) - 1;
        for (; ends; ends &= ends - 1) {
            const char* end = at + _tzcnt_u64(ends);
            use(line, end - line);
            line = end + 1;
        }
    }
    if (line == piece.end) return;
    const char* end =
        piece.file_end > piece.end ? (const char*)memchr(piece.end, '\n', piece.file_end - piece.end) : nullptr;
    use(line, (end ? end : piece.file_end) - line);
}

static std::vector<uint64_t> sample(const MappedInput& input) {
    std::vector<uint64_t> prefixes;
    auto& pieces = input.pieces();
    size_t places = std::min<size_t>(1024, pieces.size());
    for (size_t i = 0; i < places; i++) {
        MappedInput::Piece p = pieces[i * pieces.size() / places];
        p.end = std::min(p.end, p.begin + 16384);
        each_line(p, [&](const char* line, size_t n) { prefixes.push_back(prefix_of(line, n)); });
    }
    return prefixes;
}

int main(int argc, char** argv) {
    if (argc != 4) die("usage: sortlines IN OUT_FILE THREADS");
    const int threads = std::max(1, atoi(argv[3]));
    MappedInput input(open_inputs(argv[1]), 4096, 1 << 20);
    const Splitters splitters(sample(input), std::min<size_t>(1024, input.bytes() / (64 << 10) + 1));
    Lines lines;

    std::vector<std::unique_ptr<Buckets>> mine(threads);
    std::vector<std::vector<uint64_t>> bytes(threads, std::vector<uint64_t>(splitters.buckets()));
    on_threads(threads, [&](int t) {
        uint64_t number = (kPositionMask + 1) / threads * t, limit = (kPositionMask + 1) / threads * (t + 1);
        mine[t] = std::make_unique<Buckets>(splitters.buckets(), std::min<size_t>(input.bytes() + 1, limit - number));
        while (auto* piece = input.claim())
            each_line(*piece, [&](const char* line, size_t n) {
                if (number == limit) die("too many lines for 28 bits");
                uint64_t prefix = prefix_of(line, n);
                size_t b = splitters.bucket(prefix);
                lines.set(number, line, n);
                mine[t]->add(b, splitters.key(b, prefix) << kPositionBits | number++);
                bytes[t][b] += n + 1;
            });
    });

    std::vector<uint64_t> offset(splitters.buckets() + 1), size(splitters.buckets());
    for (size_t b = 0; b < size.size(); b++) {
        offset[b + 1] = offset[b];
        for (int t = 0; t < threads; t++) size[b] += mine[t]->size(b), offset[b + 1] += bytes[t][b];
    }
    const uint64_t largest = *std::max_element(size.begin(), size.end());
    const std::string temporary = std::string(argv[2]) + ".tmp";
    const int fd = OutputDir::create_file(temporary, offset.back(), O_TRUNC);
    std::atomic<size_t> next{0};
    on_threads(threads, [&](int) {
        constexpr size_t kStage = 512 << 10;
        char* stage = (char*)map_memory(kStage);
        uint64_t* entries = (uint64_t*)map_memory((largest + 16) * 8);
        uint64_t* scratch = (uint64_t*)map_memory((largest + 16) * 8);
        for (size_t b; (b = next.fetch_add(1)) < size.size();) {
            uint64_t* end = entries;
            for (auto& m : mine) end = m->copy(b, end);
            lines.sort(entries, size[b], scratch);
            uint64_t at = offset[b];
            size_t filled = 0;
            auto flush = [&] { write_at(fd, stage, filled, at), at += filled, filled = 0; };
            for (size_t i = 0; i < size[b]; i++) {
                if (i + 8 < size[b]) {
                    const char* later = lines.start(entries[i + 8]);
                    for (size_t o = 0; o < std::min<size_t>(lines.size(entries[i + 8]) + 1, 1024); o += 64)
                        _mm_prefetch(later + o, _MM_HINT_T0);
                }
                size_t n = lines.size(entries[i]);
                if (filled + n + 1 > kStage) flush();
                if (n + 1 > kStage) {
                    write_at(fd, lines.start(entries[i]), n, at);
                    at += n, n = 0;
                } else {
                    memcpy(stage + filled, lines.start(entries[i]), n);
                }
                stage[filled + n] = '\n';
                filled += n + 1;
            }
            flush();
        }
    });
    if (rename(temporary.c_str(), argv[2])) die(argv[2]);
    _exit(0);
}
