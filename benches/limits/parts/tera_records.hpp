// In-memory sort of 100-byte records with 10-byte keys. It sorts 8-byte entries (36 key bits, 28 bits of record number)
// one bucket at a time in cache. Then it touches each record once, to gather it into the output.
#pragma once
#include <immintrin.h>

#include <cstring>

#include "vectors/bytes64.hpp"
#include "splitters.hpp"
#include "vectors/vector_sort.hpp"

constexpr size_t kRecord = 100, kKey = 10;

inline uint64_t key_prefix(const char* record) {
    uint64_t v;
    memcpy(&v, record, 8);
    return __builtin_bswap64(v);
}

constexpr uint64_t kPositionMask = (1ull << Splitters::kPositionBits) - 1;

inline uint64_t make_entry(uint64_t key, uint64_t position) { return key << Splitters::kPositionBits | position; }
inline uint64_t position_of(uint64_t entry) { return entry & kPositionMask; }

// Sorts the entries of one bucket into the order of their records. Equal keys keep the order of their positions.
inline void sort_entries(uint64_t* entries, size_t n, const char* records, uint64_t* scratch) {
    sort_u64(entries, n, scratch);
    for (size_t i = 1; i < n;) {
        if ((entries[i - 1] ^ entries[i]) >> Splitters::kPositionBits) { i++; continue; }
        size_t from = i - 1;
        while (i < n && !((entries[from] ^ entries[i]) >> Splitters::kPositionBits)) i++;
        std::sort(entries + from, entries + i, [&](uint64_t a, uint64_t b) {
            int order = memcmp(records + position_of(a) * kRecord, records + position_of(b) * kRecord, kKey);
            return order ? order < 0 : a < b;
        });
    }
}

// Copies n records in the order of their entries and returns the end of the copy. `known` entries are readable.
inline char* gather(const uint64_t* entries, size_t n, size_t known, const char* records, char* to) {
    constexpr size_t kAhead = 16;
    for (size_t i = 0; i < n; i++) {
        if (i + kAhead < known) {
            const char* later = records + position_of(entries[i + kAhead]) * kRecord;
            _mm_prefetch(later, _MM_HINT_T0);
            _mm_prefetch(later + kRecord - 1, _MM_HINT_T0);
        }
        const char* from = records + position_of(entries[i]) * kRecord;
        copy_64_to_128(to, from, kRecord);
        to += kRecord;
    }
    return to;
}
