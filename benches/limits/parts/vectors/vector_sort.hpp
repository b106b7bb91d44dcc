// Sort of 64-bit integers: quicksort with a partition that compresses all lanes of a vector at once, and networks for
// up to 64 elements. With AVX-512 where the compiler has it, else with AVX2. The lower part is compacted in place,
// because it never overtakes the reads. The upper part goes through a scratch array in the same cache. The sort is for
// arrays that fit the L2 cache.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bytes64.hpp"

namespace vector_sort {

#if LIMITS_AVX512

using Vector = __m512i;
constexpr int kLanes = 8;

inline void exchange(Vector& a, Vector& b) {
    Vector low = _mm512_min_epu64(a, b);
    b = _mm512_max_epu64(a, b);
    a = low;
}

template <int Mask>
inline Vector exchange_within(Vector v, Vector partner) {
    return _mm512_mask_max_epu64(_mm512_min_epu64(v, partner), Mask, v, partner);
}

inline Vector reversed(Vector v) { return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v); }

// Sorts a bitonic sequence of eight in ascending order.
inline Vector merge_within(Vector v) {
    v = exchange_within<0xf0>(v, _mm512_shuffle_i64x2(v, v, 0x4e));
    v = exchange_within<0xcc>(v, _mm512_permutex_epi64(v, 0x4e));
    return exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
}

inline Vector sort_within(Vector v) {
    v = exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
    v = exchange_within<0xcc>(v, _mm512_permutex_epi64(v, 0x1b));
    v = exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
    v = exchange_within<0xf0>(v, reversed(v));
    v = exchange_within<0xcc>(v, _mm512_permutex_epi64(v, 0x4e));
    return exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
}

// Sorts eight columns, then transposes them into eight sorted rows.
inline void sort_columns(Vector* v) {
    auto x = [v](int i, int j) { exchange(v[i], v[j]); };
    x(0, 2), x(1, 3), x(4, 6), x(5, 7), x(0, 4), x(1, 5), x(2, 6), x(3, 7), x(0, 1), x(2, 3);
    x(4, 5), x(6, 7), x(2, 4), x(3, 5), x(1, 4), x(3, 6), x(1, 2), x(3, 4), x(5, 6);
    Vector a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]);
    }
    for (int h = 0; h < 8; h += 4)
        for (int i = 0; i < 2; i++) {
            b[h + i] = _mm512_shuffle_i64x2(a[h + i], a[h + 2 + i], 0x88);
            b[h + 2 + i] = _mm512_shuffle_i64x2(a[h + i], a[h + 2 + i], 0xdd);
        }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0x88);
        v[4 + i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0xdd);
    }
}

// Loads the first n elements, at most eight, with maxima behind them.
inline Vector load_some(const uint64_t* a, size_t n) {
    return _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), (1u << n) - 1, a);
}

inline void store_some(uint64_t* a, Vector v, size_t n) { _mm512_mask_storeu_epi64(a, (1u << n) - 1, v); }

// Writes the elements of a[0..8) below the bound to `low` and the others to `high`, eight numbers each; returns how
// many are below.
inline unsigned split(const uint64_t* a, uint64_t bound, uint64_t* low, uint64_t* high) {
    Vector v = _mm512_loadu_si512(a);
    __mmask8 below = _mm512_cmplt_epu64_mask(v, _mm512_set1_epi64(bound));
    _mm512_storeu_si512(low, _mm512_maskz_compress_epi64(below, v));
    _mm512_storeu_si512(high, _mm512_maskz_compress_epi64((__mmask8)~below, v));
    return _mm_popcnt_u32(below);
}

#else

// AVX2 compares signed numbers: vectors hold numbers with their highest bit flipped.
using Vector = __m256i;
constexpr int kLanes = 4;

inline Vector flipped(Vector v) { return _mm256_xor_si256(v, _mm256_set1_epi64x(INT64_MIN)); }

inline Vector chosen(Vector no, Vector yes, Vector which) {
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(no), _mm256_castsi256_pd(yes), _mm256_castsi256_pd(which)));
}

inline void exchange(Vector& a, Vector& b) {
    Vector greater = _mm256_cmpgt_epi64(a, b), low = chosen(a, b, greater);
    b = chosen(b, a, greater);
    a = low;
}

// Mask: lanes that get the larger number, two bits each.
template <int Mask>
inline Vector exchange_within(Vector v, Vector partner) {
    Vector high = partner;
    exchange(v, high);
    return _mm256_blend_epi32(v, high, Mask);
}

inline Vector reversed(Vector v) { return _mm256_permute4x64_epi64(v, 0x1b); }

// Sorts a bitonic sequence of four in ascending order.
inline Vector merge_within(Vector v) {
    v = exchange_within<0xf0>(v, _mm256_permute4x64_epi64(v, 0x4e));
    return exchange_within<0xcc>(v, _mm256_permute4x64_epi64(v, 0xb1));
}

inline Vector sort_within(Vector v) {
    v = exchange_within<0xcc>(v, _mm256_permute4x64_epi64(v, 0xb1));
    v = exchange_within<0xf0>(v, reversed(v));
    return exchange_within<0xcc>(v, _mm256_permute4x64_epi64(v, 0xb1));
}

// Sorts four columns, then transposes them into four sorted rows.
inline void sort_columns(Vector* v) {
    auto x = [v](int i, int j) { exchange(v[i], v[j]); };
    x(0, 1), x(2, 3), x(0, 2), x(1, 3), x(1, 2);
    Vector a = _mm256_unpacklo_epi64(v[0], v[1]), b = _mm256_unpackhi_epi64(v[0], v[1]),
           c = _mm256_unpacklo_epi64(v[2], v[3]), d = _mm256_unpackhi_epi64(v[2], v[3]);
    v[0] = _mm256_permute2x128_si256(a, c, 0x20);
    v[1] = _mm256_permute2x128_si256(b, d, 0x20);
    v[2] = _mm256_permute2x128_si256(a, c, 0x31);
    v[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

inline Vector first_lanes(size_t n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

// Loads the first n elements, at most four, with maxima behind them.
inline Vector load_some(const uint64_t* a, size_t n) {
    Vector there = first_lanes(n), v = _mm256_maskload_epi64((const long long*)a, there);
    return flipped(chosen(_mm256_set1_epi64x(-1), v, there));
}

inline void store_some(uint64_t* a, Vector v, size_t n) {
    _mm256_maskstore_epi64((long long*)a, first_lanes(n), flipped(v));
}

// For each set of lanes, the order that moves its lanes to the front and the others behind them.
struct LaneOrders {
    uint32_t of[16][8] = {};
    constexpr LaneOrders() {
        for (int set = 0; set < 16; set++) {
            int n = 0;
            for (int wanted = 1; wanted >= 0; wanted--)
                for (int lane = 0; lane < 4; lane++)
                    if ((set >> lane & 1) == wanted) of[set][n++] = 2 * lane, of[set][n++] = 2 * lane + 1;
        }
    }
};
inline constexpr LaneOrders kLaneOrders;

// Writes the elements of a[0..4) below the bound to `low` and the others to `high`, four numbers each; returns how many
// are below.
inline unsigned split(const uint64_t* a, uint64_t bound, uint64_t* low, uint64_t* high) {
    Vector v = _mm256_loadu_si256((const Vector*)a);
    Vector below = _mm256_cmpgt_epi64(flipped(_mm256_set1_epi64x(bound)), flipped(v));
    unsigned set = _mm256_movemask_pd(_mm256_castsi256_pd(below));
    auto front = [&](unsigned lanes) {
        return _mm256_permutevar8x32_epi32(v, _mm256_loadu_si256((const Vector*)kLaneOrders.of[lanes]));
    };
    _mm256_storeu_si256((Vector*)low, front(set));
    _mm256_storeu_si256((Vector*)high, front(set ^ 15));
    return _mm_popcnt_u32(set);
}

#endif

// Merges two sorted halves of N/2 vectors into one ascending sequence.
template <int N>
__attribute__((always_inline)) inline void merge_halves(Vector* v) {
    for (int i = 0; i < N / 2; i++) {
        Vector high = reversed(v[N - 1 - i]);
        exchange(v[i], high);
        v[N - 1 - i] = high;  // its lanes are reversed, and the sequence is still bitonic
    }
    for (int step = N / 4; step; step /= 2)
        for (int i = 0; i < N; i += 2 * step)
            for (int j = i; j < i + step; j++) exchange(v[j], v[j + step]);
    for (int i = 0; i < N; i++) v[i] = merge_within(v[i]);
}

template <int N>
__attribute__((always_inline)) inline void sort_vectors(Vector* v) {
    if constexpr (N == 1) {
        v[0] = sort_within(v[0]);
    } else if constexpr (N == kLanes) {
        sort_columns(v);
        for (int i = 0; i < N; i += 2) merge_halves<2>(v + i);
        for (int i = 0; i < N; i += 4) merge_halves<4>(v + i);
        if constexpr (N == 8) merge_halves<8>(v);
    } else {
        sort_vectors<N / 2>(v);
        sort_vectors<N / 2>(v + N / 2);
        merge_halves<N>(v);
    }
}

// Sorts up to kLanes * N elements; kLanes * (N - 1) or fewer need only a smaller N.
template <int N>
__attribute__((noinline)) inline void sort_up_to(uint64_t* a, size_t n) {
    Vector v[N];
    auto here = [n](int i) { return std::min<size_t>(kLanes, n > size_t(i) * kLanes ? n - i * kLanes : 0); };
    for (int i = 0; i < N; i++) v[i] = load_some(a + i * kLanes, here(i));
    sort_vectors<N>(v);
    for (int i = 0; i < N; i++) store_some(a + i * kLanes, v[i], here(i));
}

constexpr size_t kSmall = 64;

inline void sort_small(uint64_t* a, size_t n) {
    if (n <= kLanes) sort_up_to<1>(a, n);
    else if (n <= 2 * kLanes) sort_up_to<2>(a, n);
    else if (n <= 4 * kLanes) sort_up_to<4>(a, n);
    else if (n <= 8 * kLanes) sort_up_to<8>(a, n);
    else sort_up_to<64 / kLanes>(a, n);
}

// Returns an element near the median: the middle of 8, 32 or 64 elements in evenly spaced runs of 8.
inline uint64_t pivot(const uint64_t* a, size_t n) {
    alignas(64) uint64_t sample[64];
    int vectors = n < 512 ? 2 : n < 4096 ? 4 : 8;
    for (int i = 0; i < vectors; i++)
        std::copy_n(a + (n - 8) * (2 * i + 1) / (2 * vectors), 8, sample + i * 8);
    sort_small(sample, vectors * 8);
    return sample[vectors * 4];
}

// Moves the elements below the pivot to the front and returns their number. Scratch: n + 16 elements.
inline size_t partition(uint64_t* a, size_t n, uint64_t by, uint64_t* scratch) {
    uint64_t *low = a, *high = scratch;
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        unsigned count = split(a + i, by, low, high);
        low += count;
        high += kLanes - count;
    }
    for (; i < n; i++) {
        uint64_t value = a[i];
        *(value < by ? low++ : high++) = value;
    }
    std::copy(scratch, high, low);
    return low - a;
}

inline void sort(uint64_t* a, size_t n, uint64_t* scratch, int depth) {
    while (n > kSmall) {
        if (depth-- == 0) { std::sort(a, a + n); return; }
        uint64_t by = pivot(a, n);
        size_t low = partition(a, n, by, scratch);
        if (low == 0) {  // the pivot is the minimum: set its equals aside
            if (by == ~0ull) return;
            low = partition(a, n, by + 1, scratch);
        } else {
            sort(a, low, scratch, depth);
        }
        a += low;
        n -= low;
    }
    if (n > 1) sort_small(a, n);
}

}  // namespace vector_sort

// Sorts n elements. Scratch: n + 16 elements, aligned to 64 bytes.
inline void sort_u64(uint64_t* a, size_t n, uint64_t* scratch) {
    vector_sort::sort(a, n, scratch, 2 * (64 - __builtin_clzll(n | 1)) + 8);
}
