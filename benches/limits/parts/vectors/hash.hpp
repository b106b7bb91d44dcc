// 64-bit hashes of keys by rounds of AES. They take two or three cycles per 16 bytes, and every output bit depends on
// every input bit.
#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

inline uint64_t hash_two(__m128i low, __m128i high) {
    const __m128i seed = _mm_set_epi64x(0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f);
    __m128i x = _mm_aesenc_si128(_mm_aesenc_si128(low, high), seed);
    return _mm_cvtsi128_si64(_mm_aesenc_si128(x, seed));
}

inline uint64_t hash_bytes(const char* p, size_t n) {  // n >= 16
    __m128i x = _mm_set_epi64x(0x9e3779b97f4a7c15, n);
    for (size_t i = 0; i + 16 < n; i += 16) x = _mm_aesenc_si128(x, _mm_loadu_si128((const __m128i*)(p + i)));
    return hash_two(x, _mm_loadu_si128((const __m128i*)(p + n - 16)));
}
