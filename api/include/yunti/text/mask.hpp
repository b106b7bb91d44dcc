// Masks of separators: 64 bits for 64 bytes of text, the base of words(), lines(), fields() and key_values().
//
//   text   c a t ␣ d o g ⏎ ..        bit i of the mask belongs to byte i
//   mask   0 0 0 1 0 0 0 1 ..        walked by count-trailing-zeros, lowest first
//
// A byte loop mispredicts once per word (8-10 ns); a mask costs about 1 ns per separator. SIMD is chosen when this
// header is compiled: AVX2 if the compiler may use it, else SSE2 (every x86-64), NEON, or eight bytes at a time. The
// engine chooses at run time: yt_context.mask_any, and yt_context.edges, which words() calls for long texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../type.hpp"

#if defined(YUNTI_NO_SIMD)
// portable code, for tests
#elif defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace yunti {
namespace detail {

#if defined(__AVX2__) && !defined(YUNTI_NO_SIMD)
using Lanes = __m256i;
YUNTI_INLINE Lanes load_lanes(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
YUNTI_INLINE Lanes equal(Lanes v, uint8_t c) { return _mm256_cmpeq_epi8(v, _mm256_set1_epi8(static_cast<char>(c))); }
YUNTI_INLINE Lanes either(Lanes a, Lanes b) { return _mm256_or_si256(a, b); }
YUNTI_INLINE Lanes but_not(Lanes a, Lanes b) { return _mm256_andnot_si256(b, a); }
YUNTI_INLINE Lanes within(Lanes v, uint8_t low, uint8_t high) {
  const Lanes d = _mm256_sub_epi8(v, _mm256_set1_epi8(static_cast<char>(low)));
  return _mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8(static_cast<char>(high - low))), d);
}
template <class Test>
YUNTI_INLINE uint64_t mask64(const uint8_t* p, Test test) {
  const uint32_t a = static_cast<uint32_t>(_mm256_movemask_epi8(test(load_lanes(p))));
  const uint32_t b = static_cast<uint32_t>(_mm256_movemask_epi8(test(load_lanes(p + 32))));
  return a | static_cast<uint64_t>(b) << 32;
}

#elif defined(__SSE2__) && !defined(YUNTI_NO_SIMD)
using Lanes = __m128i;
YUNTI_INLINE Lanes load_lanes(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
YUNTI_INLINE Lanes equal(Lanes v, uint8_t c) { return _mm_cmpeq_epi8(v, _mm_set1_epi8(static_cast<char>(c))); }
YUNTI_INLINE Lanes either(Lanes a, Lanes b) { return _mm_or_si128(a, b); }
YUNTI_INLINE Lanes but_not(Lanes a, Lanes b) { return _mm_andnot_si128(b, a); }
YUNTI_INLINE Lanes within(Lanes v, uint8_t low, uint8_t high) {
  const Lanes d = _mm_sub_epi8(v, _mm_set1_epi8(static_cast<char>(low)));
  return _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(static_cast<char>(high - low))), d);
}
template <class Test>
YUNTI_INLINE uint64_t mask64(const uint8_t* p, Test test) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < 64; i += 16)
    mask |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(test(load_lanes(p + i))))) << i;
  return mask;
}

#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(YUNTI_NO_SIMD)
using Lanes = uint8x16_t;
YUNTI_INLINE Lanes equal(Lanes v, uint8_t c) { return vceqq_u8(v, vdupq_n_u8(c)); }
YUNTI_INLINE Lanes either(Lanes a, Lanes b) { return vorrq_u8(a, b); }
YUNTI_INLINE Lanes but_not(Lanes a, Lanes b) { return vbicq_u8(a, b); }
YUNTI_INLINE Lanes within(Lanes v, uint8_t low, uint8_t high) {
  return vcleq_u8(vsubq_u8(v, vdupq_n_u8(low)), vdupq_n_u8(static_cast<uint8_t>(high - low)));
}
template <class Test>
YUNTI_INLINE uint64_t mask64(const uint8_t* p, Test test) {
  const Lanes bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const Lanes a = vpaddq_u8(vandq_u8(test(vld1q_u8(p)), bit), vandq_u8(test(vld1q_u8(p + 16)), bit));
  const Lanes b = vpaddq_u8(vandq_u8(test(vld1q_u8(p + 32)), bit), vandq_u8(test(vld1q_u8(p + 48)), bit));
  const Lanes c = vpaddq_u8(a, b);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(c, c)), 0);
}

#else
// Eight bytes in a word; a byte that passes a test is 0x80, any other 0. Each sum stays inside its byte: no carries.
struct Lanes {
  uint64_t w;
};
inline constexpr uint64_t kOnes = 0x0101010101010101u, kHigh = 0x8080808080808080u;
YUNTI_INLINE uint64_t zero_bytes(uint64_t x) { return ~(((x & ~kHigh) + ~kHigh) | x) & kHigh; }
YUNTI_INLINE Lanes equal(Lanes v, uint8_t c) { return {zero_bytes(v.w ^ (kOnes * c))}; }
YUNTI_INLINE Lanes either(Lanes a, Lanes b) { return {a.w | b.w}; }
YUNTI_INLINE Lanes but_not(Lanes a, Lanes b) { return {a.w & ~b.w}; }
YUNTI_INLINE Lanes within(Lanes v, uint8_t low, uint8_t high) {  // for low, high < 128
  const uint64_t x = v.w & ~kHigh;
  const uint64_t at_least = x + kOnes * static_cast<uint8_t>(128 - low), above = x +
      kOnes * static_cast<uint8_t>(127 - high);
  return {at_least & ~above & ~v.w & kHigh};
}
template <class Test>
YUNTI_INLINE uint64_t mask64(const uint8_t* p, Test test) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < 64; i += 8) mask |= ((test(Lanes{load<uint64_t>(p + i)}).w >> 7) * 0x0102040810204080u >> 56)
    << i;
  return mask;
}
#endif

// Tests of lanes for separator bytes; kSpaces is the same set for the engine's functions.
struct IsSpace {  // as java.util.StringTokenizer: space, tab, LF, CR, form feed (not the vertical tab)
  YUNTI_INLINE Lanes operator()(Lanes v) const { return either(but_not(within(v, 9, 13), equal(v, 11)),
  equal(v, ' ')); }
};
YUNTI_HIDDEN inline constexpr uint8_t kSpaces[5] = {' ', '\t', '\n', '\r', '\f'};

struct IsLineEnd {
  YUNTI_INLINE Lanes operator()(Lanes v) const { return either(equal(v, '\n'), equal(v, '\r')); }
};

struct IsByte {
  uint8_t c;
  YUNTI_INLINE Lanes operator()(Lanes v) const { return equal(v, c); }
};

struct IsLineEndOr {
  uint8_t c;
  YUNTI_INLINE Lanes operator()(Lanes v) const { return either(IsLineEnd{}(v), equal(v, c)); }
};

// Returns the mask of the last n < 64 bytes of a text, without reading past its end.
template <class Test>
YUNTI_INLINE uint64_t mask_tail(const uint8_t* p, uint64_t n, Test test) {
  alignas(64) uint8_t block[64] = {};
  if (n != 0) std::memcpy(block, p, n);
  return mask64(block, test) & ((uint64_t{1} << n) - 1);
}

YUNTI_INLINE unsigned lowest(uint64_t bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }

// Calls at(position) for each byte of the text that passes the test, in order, and finally at(n). It calls `at` in one
// place, so gcc inlines even a long function.
template <class Test, class At>
YUNTI_INLINE void each_match_and_end(const uint8_t* p, uint64_t n, Test test, At&& at) {
  for (uint64_t i = 0;; i += 64) {
    const uint64_t left = n - i;
    uint64_t mask = YUNTI_LIKELY(left >= 64) ? mask64(p + i, test) : mask_tail(p + i, left, test) | uint64_t{1} << left;
    for (; mask != 0; mask &= mask - 1) at(i + lowest(mask));
    if (left < 64) return;
  }
}

}  // namespace detail
}  // namespace yunti
