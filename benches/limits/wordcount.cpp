// wordcount IN OUT_DIR THREADS: counts the words of a file or of the files of a directory at the speed of the machine.
// Writes "word TAB count LF" in any order to OUT_DIR/part-r-00000.
//
// A word of up to 24 bytes is its own key, padded with spaces and held in the slot. Longer words are in an arena and
// are found by a 64-bit hash. Both kinds go through the table in batches with prefetch.
#include <algorithm>
#include <memory>

#include "arena.hpp"
#include "fold_table.hpp"
#include "vectors/hash.hpp"
#include "output_stream.hpp"
#include "pieces.hpp"
#include "threads.hpp"
#include "vectors/words.hpp"

constexpr size_t kInline = 24;

struct ShortSlot {
    __m128i low;
    uint64_t high;
    uint64_t count;
    bool used() const { return count; }
    void fold(const ShortSlot& o) { count += o.count; }
    bool commoner(const ShortSlot& o) const { return count > 2 * o.count; }
    uint64_t hash() const { return hash_two(low, _mm_set_epi64x(0x2020202020202020, high)); }
    bool same(const ShortSlot& o) const {
        return high == o.high && _mm_movemask_epi8(_mm_cmpeq_epi8(low, o.low)) == 0xffff;
    }
    size_t length() const {
        uint32_t spaces = _mm256_movemask_epi8(
            _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i*)this), _mm256_set1_epi8(' ')));
        return _tzcnt_u64(spaces | 1u << kInline);
    }
};
static_assert(sizeof(ShortSlot) == 32);

struct LongSlot {
    uint64_t hashed;
    const char* word;
    uint64_t bytes;
    uint64_t count;
    bool used() const { return count; }
    void fold(const LongSlot& o) { count += o.count; }
    bool commoner(const LongSlot& o) const { return count > 2 * o.count; }
    uint64_t hash() const { return hashed; }
    bool same(const LongSlot& o) const {
        return hashed == o.hashed && bytes == o.bytes && !memcmp(word, o.word, bytes);
    }
};

class Counter {
  public:
    FoldTable<ShortSlot> shorts{14};
    FoldTable<LongSlot> longs{9};

    // The span ends with a separator.
    void count(const char* data, size_t bytes) {
        uint32_t* starts_end = starts_;
        uint32_t* ends_end = ends_;
        uint64_t before_separates = 1;  // the byte before this block
        for (size_t at = 0; at < bytes;) {
            size_t stop = std::min(bytes, at + kGroupBytes);
            for (; at < stop; at += 64) {
                uint64_t sep = separator_mask(data + at);
                if (bytes - at < 64) sep |= ~0ull << (bytes - at);
                uint64_t shifted = sep << 1 | before_separates;
                before_separates = sep >> 63;
                starts_end = append_positions(starts_end, ~sep & shifted, (uint32_t)at);
                ends_end = append_positions(ends_end, sep & ~shifted, (uint32_t)at);
            }
            size_t whole = ends_end - ends_;
            add_words(data, whole);
            if (starts_end - starts_ > (ptrdiff_t)whole) starts_[0] = starts_[whole], starts_end = starts_ + 1;
            else starts_end = starts_;
            ends_end = ends_;
        }
        add_longs();
    }

  private:
    static constexpr size_t kGroupBytes = 1024, kMaxWords = kGroupBytes / 2 + 1, kLongBatch = 64;

    void add_words(const char* data, size_t n) {
        const __m256i spaces = _mm256_set1_epi8(' ');
        size_t m = 0;
        for (size_t i = 0; i < n; i++) {
            const char* word = data + starts_[i];
            uint32_t length = ends_[i] - starts_[i];
            if (__builtin_expect(length > kInline, 0)) { add_long(word, length); continue; }
            __m256i key = padded_32(word, length, spaces);
            __m128i low = _mm256_castsi256_si128(key), high = _mm256_extracti128_si256(key, 1);
            uint64_t hash = hash_two(low, high);
            _mm256_store_si256(&key_[m], key);
            hash_[m++] = hash;
            _mm_prefetch((const char*)shorts.home(hash), _MM_HINT_T0);
        }
        for (size_t i = 0; i < m; i++) {
            ShortSlot* s = shorts.home(hash_[i]);
            if (__builtin_expect(same_24(s, key_[i]), 1))
                s->count++;
            else add_short(key_[i], hash_[i]);
        }
    }
    void add_short(__m256i key, uint64_t hash) {
        ShortSlot slot;
        _mm256_storeu_si256((__m256i*)&slot, key);
        slot.count = 1;
        shorts.add(slot, hash, [](const ShortSlot& x) { return x; });
    }

    void add_long(const char* word, size_t bytes) {
        uint64_t hash = hash_bytes(word, bytes);
        _mm_prefetch((const char*)longs.home(hash), _MM_HINT_T0);
        long_batch_[longs_waiting_++] = {hash, word, bytes, 1};
        if (longs_waiting_ == kLongBatch) add_longs();
    }
    void add_longs() {  // before the input buffer is reused
        for (size_t i = 0; i < longs_waiting_; i++)
            longs.add(long_batch_[i], long_batch_[i].hashed, [&](const LongSlot& s) {
                return LongSlot{s.hashed, arena_.keep(s.word, s.bytes), s.bytes, s.count};
            });
        longs_waiting_ = 0;
    }

    alignas(64) __m256i key_[kMaxWords];
    uint64_t hash_[kMaxWords];
    uint32_t starts_[kMaxWords + 64], ends_[kMaxWords + 64];
    LongSlot long_batch_[kLongBatch];
    size_t longs_waiting_ = 0;
    Arena arena_;
};

static void emit(OutputStream& out, const ShortSlot& s) {
    char* to = out.room(64);
    _mm256_storeu_si256((__m256i*)to, _mm256_loadu_si256((const __m256i*)&s));
    to += s.length();
    *to++ = '\t';
    to = append_number(to, s.count);
    *to++ = '\n';
    out.advance(to);
}

static void emit(OutputStream& out, const LongSlot& s) {
    char tail[32], *end = tail;
    *end++ = '\t';
    end = append_number(end, s.count);
    *end++ = '\n';
    size_t n = s.bytes + (end - tail);
    if (n < 4096) {  // one range of the file, because other threads claim theirs in between
        char* to = out.room(n);
        memcpy(to, s.word, s.bytes);
        memcpy(to + s.bytes, tail, end - tail);
        out.advance(to + n);
    } else {
        std::string line(s.word, s.bytes);
        line.append(tail, end - tail);
        out.write_alone(line.data(), n);
    }
}

// Merges the tables by hash partitions that fit the L2 cache, and writes each partition at once.
template <class Slot>
class Merge {
  public:
    explicit Merge(std::vector<const FoldTable<Slot>*> tables) : tables_(std::move(tables)) {
        size_t entries = 0;
        for (auto* t : tables_) entries += t->entries();
        while (entries >> bits_ > 1024) bits_++;
    }
    void run(OutputStream& out) {
        FoldTable<Slot> merged(12);
        for (size_t p; (p = next_.fetch_add(1)) >> bits_ == 0;) {
            uint64_t from = bits_ ? p << (64 - bits_) : 0, last = from + (~0ull >> bits_);
            if (tables_.size() == 1) {
                tables_[0]->each_between(from, last, [&](const Slot& s, uint64_t) { emit(out, s); });
                continue;
            }
            // All hashes of a partition have the same leading bits: shift them out.
            for (auto* t : tables_)
                t->each_between(from, last, [&](const Slot& s, uint64_t h) {
                    merged.add(s, bits_ ? h << bits_ : h, [](const Slot& x) { return x; });
                });
            for (Slot* s = merged.begin(); s < merged.end(); s++)
                if (s->used()) emit(out, *s);
            merged.clear();
        }
    }

  private:
    std::vector<const FoldTable<Slot>*> tables_;
    std::atomic<size_t> next_{0};
    int bits_ = 0;
};

int main(int argc, char** argv) {
    if (argc != 4) die("usage: wordcount IN OUT_DIR THREADS");
    int threads = std::max(1, atoi(argv[3]));
    auto files = open_inputs(argv[1]);
    OutputDir out(argv[2]);
    int part = out.create_part(0);

    Ranges ranges(files, 4 << 20);
    std::vector<std::unique_ptr<Counter>> counters(threads);
    on_threads(threads, [&](int t) {
        counters[t] = std::make_unique<Counter>();
        PieceReader reader(is_separator);
        while (auto* range = ranges.claim())
            reader.read(*range, [&](const char* data, size_t n) { counters[t]->count(data, n); });
    });

    std::vector<const FoldTable<ShortSlot>*> shorts;
    std::vector<const FoldTable<LongSlot>*> longs;
    for (auto& c : counters) shorts.push_back(&c->shorts), longs.push_back(&c->longs);
    Merge<ShortSlot> merge_shorts(shorts);
    Merge<LongSlot> merge_longs(longs);
    std::atomic<uint64_t> file_end{0};
    on_threads(threads, [&](int) {
        OutputStream stream(part, file_end);
        merge_shorts.run(stream);
        merge_longs.run(stream);
    });
    out.commit();
    _exit(0);  // the kernel frees the memory at once
}
