// Start and end positions of the words in a byte range, found 64 bytes at a time with AVX-512 masks.
// The separators are the same as in Java's StringTokenizer: space, tab, line feed, form feed, carriage return.
#pragma once
#include <immintrin.h>

#include <cstdint>

// Returns a mask with bit i set if byte i is a separator. One shuffle maps the low nibble of each byte to the only
// separator with that nibble.
inline uint64_t separator_mask(__m512i bytes) {
    const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, 9, 10, 0, 12, 13, 0, 0));
    return _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table, bytes), bytes);
}

inline bool is_separator(unsigned char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

// Appends base + (index of each set bit) for all 64 bits of the mask. Writes up to 64 entries past `to`.
inline uint32_t* append_positions(uint32_t* to, uint64_t mask, uint32_t base) {
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
}
