// 64 bytes at a time: masks of bytes, positions of a mask's bits, keys padded to a fixed size, copies of records. With
// AVX-512 where the compiler has it (-march=native on such a machine), else with AVX2.
#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#if defined(__AVX512VBMI2__) && defined(__AVX512VL__)
#define LIMITS_AVX512 1
#endif

// Returns a mask with bit i set if p[i] is c. Reads 64 bytes.
inline uint64_t equal_mask(const char* p, char c) {
#if LIMITS_AVX512
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(c));
#else
    const __m256i wanted = _mm256_set1_epi8(c);
    uint32_t low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i*)p), wanted));
    uint32_t high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i*)(p + 32)), wanted));
    return low | uint64_t(high) << 32;
#endif
}

// Returns a mask with bit i set if p[i] is the entry of `table` for its low nibble. The table has no byte from 128 on.
// Reads 64 bytes.
inline uint64_t nibble_mask(const char* p, __m128i table) {
#if LIMITS_AVX512
    __m512i bytes = _mm512_loadu_si512(p);
    return _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), bytes), bytes);
#else
    const __m256i both = _mm256_broadcastsi128_si256(table);
    __m256i low = _mm256_loadu_si256((const __m256i*)p), high = _mm256_loadu_si256((const __m256i*)(p + 32));
    uint32_t first = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(both, low), low));
    uint32_t second = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(both, high), high));
    return first | uint64_t(second) << 32;
#endif
}

#if !LIMITS_AVX512
// For each byte, the positions of its bits that are set.
struct PositionTable {
    uint8_t of[256][8] = {};
    constexpr PositionTable() {
        for (int byte = 0; byte < 256; byte++)
            for (int bit = 0, n = 0; bit < 8; bit++)
                if (byte >> bit & 1) of[byte][n++] = bit;
    }
};
inline constexpr PositionTable kPositions;

// 32 bytes of ones, then 32 zeros.
struct KeepTable {
    uint8_t bytes[64] = {};
    constexpr KeepTable() {
        for (int i = 0; i < 32; i++) bytes[i] = 255;
    }
};
inline constexpr KeepTable kKeep;

// A vector with the first n bytes 255 and the others 0; n is at most 32.
inline __m256i first_bytes(size_t n) { return _mm256_loadu_si256((const __m256i*)(kKeep.bytes + 32 - n)); }
#endif

// Appends base + (index of each set bit) for all 64 bits of the mask. Writes up to 64 entries past `to`.
inline uint32_t* append_positions(uint32_t* to, uint64_t mask, uint32_t base) {
#if LIMITS_AVX512
    alignas(64) static constexpr uint8_t kIota[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                                      32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                                      48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    unsigned count = _mm_popcnt_u64(mask);
    __m512i packed = _mm512_maskz_compress_epi8(mask, _mm512_load_si512(kIota));
    __m512i start = _mm512_set1_epi32(base);
    _mm512_storeu_si512(to, _mm512_add_epi32(start, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed))));
    if (__builtin_expect(count > 16, 0)) {
        _mm512_storeu_si512(to + 16,
                            _mm512_add_epi32(start, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 1))));
        _mm512_storeu_si512(to + 32,
                            _mm512_add_epi32(start, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 2))));
        _mm512_storeu_si512(to + 48,
                            _mm512_add_epi32(start, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 3))));
    }
    return to + count;
#else
    for (int byte = 0; byte < 8; byte++, mask >>= 8) {
        __m128i eight = _mm_loadl_epi64((const __m128i*)kPositions.of[mask & 255]);
        __m256i at = _mm256_add_epi32(_mm256_cvtepu8_epi32(eight), _mm256_set1_epi32(base + 8 * byte));
        _mm256_storeu_si256((__m256i*)to, at);
        to += _mm_popcnt_u32(mask & 255);
    }
    return to;
#endif
}

// Returns the first n bytes at p, at most 32, with bytes of `pad` behind them. May read 32 bytes.
inline __m256i padded_32(const char* p, size_t n, __m256i pad) {
#if LIMITS_AVX512
    return _mm256_mask_loadu_epi8(pad, _bzhi_u32(~0u, n), p);
#else
    return _mm256_blendv_epi8(pad, _mm256_loadu_si256((const __m256i*)p), first_bytes(n));
#endif
}

// Writes the first n bytes at p, at most 64, and zeros behind them, 64 bytes in all. May read 64 bytes.
inline void store_padded_64(void* to, const char* p, size_t n) {
#if LIMITS_AVX512
    _mm512_storeu_si512(to, _mm512_maskz_loadu_epi8(_bzhi_u64(~0ull, n), p));
#else
    size_t low = n < 32 ? n : 32;
    __m256i first = _mm256_and_si256(_mm256_loadu_si256((const __m256i*)p), first_bytes(low));
    __m256i second = _mm256_and_si256(_mm256_loadu_si256((const __m256i*)(p + 32)), first_bytes(n - low));
    _mm256_storeu_si256((__m256i*)to, first);
    _mm256_storeu_si256((__m256i*)to + 1, second);
#endif
}

// Returns whether the first 48 bytes are the same; both pointers are at multiples of 64.
inline bool same_48(const void* a, const void* b) {
#if LIMITS_AVX512
    return !_mm512_mask_cmpneq_epi32_mask(0x0fff, _mm512_load_si512(a), _mm512_load_si512(b));
#else
    __m256i low = _mm256_cmpeq_epi8(_mm256_load_si256((const __m256i*)a), _mm256_load_si256((const __m256i*)b));
    __m128i high = _mm_cmpeq_epi8(_mm_load_si128((const __m128i*)a + 2), _mm_load_si128((const __m128i*)b + 2));
    return _mm256_movemask_epi8(low) == -1 && _mm_movemask_epi8(high) == 0xffff;
#endif
}

// Returns whether the first 24 bytes at `slot`, at a multiple of 32, are those of the key.
inline bool same_24(const void* slot, __m256i key) {
#if LIMITS_AVX512
    return _mm256_mask_cmpneq_epi64_mask(0x7, _mm256_load_si256((const __m256i*)slot), key) == 0;
#else
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i*)slot), key);
    return (_mm256_movemask_pd(_mm256_castsi256_pd(equal)) & 7) == 7;
#endif
}

// Copies n bytes, 64 to 128, by overlapping ends.
inline void copy_64_to_128(char* to, const char* from, size_t n) {
#if LIMITS_AVX512
    __m512i head = _mm512_loadu_si512(from), tail = _mm512_loadu_si512(from + n - 64);
    _mm512_storeu_si512(to, head);
    _mm512_storeu_si512(to + n - 64, tail);
#else
    const char* last = from + n - 64;
    __m256i a = _mm256_loadu_si256((const __m256i*)from), b = _mm256_loadu_si256((const __m256i*)(from + 32)),
            c = _mm256_loadu_si256((const __m256i*)last), d = _mm256_loadu_si256((const __m256i*)(last + 32));
    _mm256_storeu_si256((__m256i*)to, a);
    _mm256_storeu_si256((__m256i*)(to + 32), b);
    _mm256_storeu_si256((__m256i*)(to + n - 64), c);
    _mm256_storeu_si256((__m256i*)(to + n - 32), d);
#endif
}
