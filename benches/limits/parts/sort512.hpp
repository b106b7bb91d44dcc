// Sort of 64-bit integers with AVX-512: quicksort with a partition that compresses eight lanes at once, and networks
// for up to 64 elements. The lower part is compacted in place, because it never overtakes the reads. The upper part
// goes through a scratch array in the same cache. The sort is for arrays that fit the L2 cache.
#pragma once
#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sort512 {

inline void exchange(__m512i& a, __m512i& b) {
    __m512i low = _mm512_min_epu64(a, b);
    b = _mm512_max_epu64(a, b);
    a = low;
}

template <int Mask>
inline __m512i exchange_within(__m512i v, __m512i partner) {
    return _mm512_mask_max_epu64(_mm512_min_epu64(v, partner), Mask, v, partner);
}

inline __m512i reversed(__m512i v) { return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v); }

// Sorts a bitonic sequence of eight in ascending order.
inline __m512i merge_within(__m512i v) {
    v = exchange_within<0xf0>(v, _mm512_shuffle_i64x2(v, v, 0x4e));
    v = exchange_within<0xcc>(v, _mm512_permutex_epi64(v, 0x4e));
    return exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
}

inline __m512i sort_within(__m512i v) {
    v = exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
    v = exchange_within<0xcc>(v, _mm512_permutex_epi64(v, 0x1b));
    v = exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
    v = exchange_within<0xf0>(v, reversed(v));
    v = exchange_within<0xcc>(v, _mm512_permutex_epi64(v, 0x4e));
    return exchange_within<0xaa>(v, _mm512_permutex_epi64(v, 0xb1));
}

// Merges two sorted halves of N/2 vectors into one ascending sequence.
template <int N>
__attribute__((always_inline)) inline void merge_halves(__m512i* v) {
    for (int i = 0; i < N / 2; i++) {
        __m512i high = reversed(v[N - 1 - i]);
        exchange(v[i], high);
        v[N - 1 - i] = high;  // its lanes are reversed, and the sequence is still bitonic
    }
    for (int step = N / 4; step; step /= 2)
        for (int i = 0; i < N; i += 2 * step)
            for (int j = i; j < i + step; j++) exchange(v[j], v[j + step]);
    for (int i = 0; i < N; i++) v[i] = merge_within(v[i]);
}

template <int N>
__attribute__((always_inline)) inline void sort_vectors(__m512i* v) {
    if constexpr (N == 1) {
        v[0] = sort_within(v[0]);
    } else if constexpr (N == 8) {  // sort eight columns, then transpose them into eight sorted rows
        auto x = [v](int i, int j) { exchange(v[i], v[j]); };
        x(0, 2), x(1, 3), x(4, 6), x(5, 7), x(0, 4), x(1, 5), x(2, 6), x(3, 7), x(0, 1), x(2, 3);
        x(4, 5), x(6, 7), x(2, 4), x(3, 5), x(1, 4), x(3, 6), x(1, 2), x(3, 4), x(5, 6);
        __m512i a[8], b[8];
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
        for (int i = 0; i < 8; i += 2) merge_halves<2>(v + i);
        for (int i = 0; i < 8; i += 4) merge_halves<4>(v + i);
        merge_halves<8>(v);
    } else {
        sort_vectors<N / 2>(v);
        sort_vectors<N / 2>(v + N / 2);
        merge_halves<N>(v);
    }
}

// Sorts up to 8 * N elements; 8 * (N - 1) or fewer need only a smaller N.
template <int N>
__attribute__((noinline)) inline void sort_up_to(uint64_t* a, size_t n) {
    __m512i v[N];
    __mmask8 masks[N];
    for (int i = 0; i < N; i++) {
        size_t left = n > size_t(i) * 8 ? n - i * 8 : 0;
        masks[i] = left >= 8 ? 0xff : (1u << left) - 1;
        v[i] = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), masks[i], a + i * 8);
    }
    sort_vectors<N>(v);
    for (int i = 0; i < N; i++) _mm512_mask_storeu_epi64(a + i * 8, masks[i], v[i]);
}

constexpr size_t kSmall = 64;

inline void sort_small(uint64_t* a, size_t n) {
    if (n <= 8) sort_up_to<1>(a, n);
    else if (n <= 16) sort_up_to<2>(a, n);
    else if (n <= 32) sort_up_to<4>(a, n);
    else sort_up_to<8>(a, n);
}

// Returns an element near the median: the middle of 8, 32 or 64 elements in evenly spaced runs of 8.
inline uint64_t pivot(const uint64_t* a, size_t n) {
    alignas(64) uint64_t sample[64];
    int vectors = n < 512 ? 2 : n < 4096 ? 4 : 8;
    for (int i = 0; i < vectors; i++)
        _mm512_store_si512(sample + i * 8, _mm512_loadu_si512(a + (n - 8) * (2 * i + 1) / (2 * vectors)));
    sort_small(sample, vectors * 8);
    return sample[vectors * 4];
}

// Moves the elements below the pivot to the front and returns their number. Scratch: n + 16 elements.
inline size_t partition(uint64_t* a, size_t n, uint64_t by, uint64_t* scratch) {
    const __m512i bound = _mm512_set1_epi64(by);
    uint64_t *low = a, *high = scratch;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i v = _mm512_loadu_si512(a + i);
        __mmask8 below = _mm512_cmplt_epu64_mask(v, bound);
        _mm512_storeu_si512(low, _mm512_maskz_compress_epi64(below, v));
        _mm512_storeu_si512(high, _mm512_maskz_compress_epi64((__mmask8)~below, v));
        unsigned count = _mm_popcnt_u32(below);
        low += count;
        high += 8 - count;
    }
    if (i < n) {
        __mmask8 there = (1u << (n - i)) - 1;
        __m512i v = _mm512_maskz_loadu_epi64(there, a + i);
        __mmask8 below = _mm512_mask_cmplt_epu64_mask(there, v, bound);
        _mm512_mask_compressstoreu_epi64(low, below, v);
        _mm512_mask_compressstoreu_epi64(high, there & ~below, v);
        low += _mm_popcnt_u32(below);
        high += _mm_popcnt_u32(there & ~below);
    }
    uint64_t* to = low;
    size_t rest = high - scratch, j = 0;
    for (; j + 8 <= rest; j += 8) _mm512_storeu_si512(to + j, _mm512_load_si512(scratch + j));
    for (; j < rest; j++) to[j] = scratch[j];
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

}  // namespace sort512

// Sorts n elements. Scratch: n + 16 elements, aligned to 64 bytes.
inline void sort_u64(uint64_t* a, size_t n, uint64_t* scratch) {
    sort512::sort(a, n, scratch, 2 * (64 - __builtin_clzll(n | 1)) + 8);
}
